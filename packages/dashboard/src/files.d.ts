/** Files other than TypeScript that the bundler includes. */
declare module '*.css'
