/** The part of the package, which has no types, that the tests use. */
declare module '@20minutes/s3rver' {
  export default class S3rver {
    constructor(options: { directory: string; silent: boolean; configureBuckets: { name: string }[] })
    configureBuckets(): Promise<void>
    callback(): unknown
    readonly logger: { close(): void }
  }
}
