/** What the bundler takes along that is no TypeScript. */
declare module '*.css'
