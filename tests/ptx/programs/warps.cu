extern "C" __global__ void k(const int*a,int*o){int t=blockIdx.x*blockDim.x+threadIdx.x,l=threadIdx.x&31;int v=a[t];int*p=o+t*16;
p[0]=__shfl_down_sync(~0u,v,3);p[1]=__shfl_up_sync(~0u,v,5);p[2]=__shfl_xor_sync(~0u,v,9);p[3]=__shfl_sync(~0u,v,v&31);p[4]=__shfl_down_sync(~0u,v,3,8);p[5]=__ballot_sync(~0u,v>0);p[6]=__all_sync(~0u,v>-60);p[7]=__any_sync(~0u,v>48);p[8]=__reduce_add_sync(~0u,v);p[9]=__reduce_max_sync(~0u,v);p[10]=__match_any_sync(~0u,v&3);
int q;p[11]=__match_all_sync(~0u,t>>5,&q)+q;
if(l&1){p[12]=__activemask();p[13]=__reduce_add_sync(0xaaaaaaaau,v);}else{p[12]=__popc(__ballot_sync(0x55555555u,v>0));p[13]=__shfl_sync(0x55555555u,v,2);}
int s=v;for(int k=4;k;k>>=1)s+=__shfl_xor_sync(0xffu<<(l&24),s,k,8);p[14]=s;p[15]=__syncthreads_count(v>0)+__syncthreads_or(v==1000)*1000+__syncthreads_and(v>-1000)*10000;}
extern "C" __global__ void sp(unsigned*o){unsigned m;asm("mov.u32 %0,%%lanemask_lt;":"=r"(m));int t=threadIdx.x+threadIdx.y*blockDim.x;o[t*4]=m;asm("mov.u32 %0,%%laneid;":"=r"(m));o[t*4+1]=m;asm volatile("mov.u32 %0,%%warpid;":"=r"(m));o[t*4+2]=m;long long c=clock64();o[t*4+3]=(c>0)+(clock()!=0x12345)+(blockDim.y==gridDim.y);}
