struct S{int a;double b;short c[5];float*p;};
extern "C" __global__ void st(S s,const int*a,int*o,S z){int t=threadIdx.x;o[t]=s.a+(int)s.b+s.c[2]+(int)s.p[t]+z.c[t%5];}
extern "C" __global__ void collatz(const unsigned*a,int*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i>=n)return;unsigned v=a[i];int k=0;while(v!=1){if(v&1)v=3*v+1;else v>>=1;k++;if(k>500)break;}o[i]=k;}
__device__ __noinline__ float f1(float x,int k){return x*k+1;}
__device__ __noinline__ float f2(float x,int k){return x-k;}
struct P{float x,y,z;int n;};
__device__ __noinline__ P mk(float x,int n){P p;p.x=x;p.y=x*2;p.z=x*3;p.n=n;return p;}
__device__ __noinline__ float use(P p){return p.x+p.y+p.z+p.n;}
__device__ float (*const tab[2])(float,int)={f1,f2};
extern "C" __global__ void fn(const float*a,float*o,int n){int i=threadIdx.x;float x=a[i];o[i]=tab[i&1](x,i)+use(mk(x,i))+f1(x,2);}
extern "C" __global__ void sw(const int*a,int*o){int i=blockIdx.x*blockDim.x+threadIdx.x;int v=a[i],r;switch(v&7){case 0:r=v+1;break;case 1:r=v*3;break;case 2:r=v-7;break;case 3:r=v^0x55;break;case 4:r=v<<2;break;case 5:r=v/3;break;default:r=-v;}o[i]=r;}
extern "C" __global__ void loc(const int*a,int*o){int i=threadIdx.x;int b[16];for(int k=0;k<16;k++)b[k]=a[(i+k)&255];int s=0;for(int k=0;k<16;k++)s+=b[(i*k)&15]*k;o[i]=s;}
__constant__ int cc[8]={1,2,3,4,5,6,7,8};__device__ int gg=5;__device__ int*gp=&gg;
extern "C" __global__ void con(int*o){int i=threadIdx.x;o[i]=cc[i&7]+*gp;if(i==3)gg=9;}
extern "C" __global__ void pr(int n){if(threadIdx.x<2)printf("hi %d %f %s %lld\n",threadIdx.x+n,0.5*threadIdx.x,"abc",(long long)n<<33);}
class B{public:__device__ virtual int v(int x){return x+1;}};class D1:public B{public:__device__ int v(int x)override{return x*2;}};
extern "C" __global__ void virt(int*o){B b;D1 d;B*p=threadIdx.x&1?(B*)&d:&b;o[threadIdx.x]=p->v(threadIdx.x);}
