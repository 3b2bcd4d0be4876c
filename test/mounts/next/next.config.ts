import type { NextConfig } from 'next';

const config: NextConfig = {
  serverExternalPackages: ['portico'],
  output: 'standalone',
  outputFileTracingIncludes: { '/**': ['./node_modules/portico/dist/**/*'] },
};

export default config;
