/** Files other than TypeScript that the bundler includes. */
declare module '*.css'

/** The URL of a worker's script. */
declare module '*?worker&url' {
  const url: string
  export default url
}
