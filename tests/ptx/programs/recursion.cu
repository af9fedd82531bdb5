__device__ __noinline__ int fact(int n){return n<2?1:n*fact(n-1);}
__device__ __noinline__ int fib(int n){return n<2?n:fib(n-1)+fib(n-2);}
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n){return n==0?1:odd(n-1);}
__device__ __noinline__ int odd(int n){return n==0?0:even(n-1);}
__device__ int ack(int m,int n){return m==0?n+1:n==0?ack(m-1,1):ack(m-1,ack(m,n-1));}
__device__ __noinline__ void qs(int*a,int l,int r){if(l>=r)return;int p=a[(l+r)/2],i=l,j=r;while(i<=j){while(a[i]<p)i++;while(a[j]>p)j--;if(i<=j){int t=a[i];a[i]=a[j];a[j]=t;i++;j--;}}qs(a,l,j);qs(a,i,r);}
extern "C" __global__ void k(int*o){int i=threadIdx.x;o[i*4]=fact(i%13);o[i*4+1]=fib(i%12);o[i*4+2]=even(i%20);o[i*4+3]=ack(2,i%4);}
extern "C" __global__ void s(int*a){int b[32];for(int k=0;k<32;k++)b[k]=a[threadIdx.x*32+k];qs(b,0,31);for(int k=0;k<32;k++)a[threadIdx.x*32+k]=b[k];}
extern "C" __global__ void over(int*a){a[0]=fact(1000+a[1]);}
