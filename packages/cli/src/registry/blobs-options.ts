import type { RegistryOptions } from '@skillstead/core'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { isHttpUrl } from '../command/values.ts'
import { readVariable } from '../terminal/io.ts'
import { readProxies } from './proxy.ts'

/** Where the large files of a registry are. Every command on the database of the registry needs the same options. */
export const blobsOptions: Options = {
  blobs: {
    value: 'URL',
    help: 'the S3 bucket of large files, as s3://BUCKET or s3://BUCKET/PREFIX, with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and the region in AWS_REGION (or SKILLSTEAD_BLOBS). Default: all files are in the database',
    env: 'SKILLSTEAD_BLOBS',
    isRare: true,
  },
  'blobs-endpoint': {
    value: 'URL',
    help: 'the URL of another S3 service than that of AWS, such as http://minio.internal:9000 (or SKILLSTEAD_BLOBS_ENDPOINT, AWS_ENDPOINT_URL)',
    env: 'SKILLSTEAD_BLOBS_ENDPOINT',
    isRare: true,
  },
}

/** The bucket of large files; undefined without one. Throws {@link UsageError} for invalid values. */
export function toBlobs(given: Arguments): RegistryOptions['blobs'] {
  const url = textOption(given, 'blobs')
  if (url === undefined) {
    if (textOption(given, 'blobs-endpoint') === undefined) return undefined
    throw new UsageError('--blobs-endpoint needs --blobs. Pass both.')
  }
  const { env } = given.io
  const variable = (...names: string[]) =>
    names.map((name) => readVariable(env, name)).find((value) => value !== undefined)
  const endpoint = textOption(given, 'blobs-endpoint') ?? variable('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL')
  if (endpoint !== undefined && !isHttpUrl(endpoint))
    throw new UsageError('--blobs-endpoint is not an HTTP URL. Use http:// or https://, without credentials.')
  const [accessKeyId, secretAccessKey] = [variable('AWS_ACCESS_KEY_ID'), variable('AWS_SECRET_ACCESS_KEY')]
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new UsageError('The credentials of the bucket are missing. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.')
  const { http, https, noProxy } = readProxies(env)
  return {
    url,
    endpoint,
    region: variable('AWS_REGION', 'AWS_DEFAULT_REGION'),
    accessKeyId,
    secretAccessKey,
    sessionToken: variable('AWS_SESSION_TOKEN'),
    proxy: { httpProxy: http?.value, httpsProxy: https?.value, noProxy: noProxy?.value },
  }
}
