import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import S3rver from '@20minutes/s3rver'
import type { BucketOptions } from '@skillstead/core/internal'
import { onFileFinished } from './file-end.ts'

/** Answers a request in place of the service: returns false for one that the service answers, which may be later. */
export type S3Fault = (method: string, response: ServerResponse) => boolean | Promise<boolean>

const suffix = '._S3rver_object'
const slowMs = 2000

/** An S3 service on loopback with one bucket, which checks signatures, and can be told to fail. */
export async function openS3Server() {
  const directory = await mkdtemp(join(tmpdir(), 'skillstead-s3-'))
  const service = new S3rver({ directory, silent: true, configureBuckets: [{ name: 'skills' }] })
  await service.configureBuckets()
  const answer = service.callback() as RequestListener
  const requests: string[] = []
  let fault: S3Fault | undefined
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (!fault || !(await fault(request.method!, response))) answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onFileFinished(async () => {
    server.closeAllConnections()
    server.close()
    service.logger.close()
    await rm(directory, { recursive: true, force: true })
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const toFile = (key: string) => join(directory, 'skills', key + suffix)

  return {
    endpoint,
    /** The variables of the environment for commands. */
    env: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_ENDPOINT_URL: endpoint },
    /** The methods and paths of all requests. */
    requests,
    /** Options for a registry with a prefix of its own. */
    toOptions: (prefix = '', options: Partial<BucketOptions> = {}): BucketOptions => ({
      url: `s3://skills${prefix && `/${prefix}`}`,
      endpoint,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      ...options,
    }),
    setFault: (wanted: S3Fault | undefined) => void (fault = wanted),
    /** The keys of all objects below a prefix. */
    async listKeys(prefix: string) {
      const names = await readdir(join(directory, 'skills', prefix)).catch(() => [])
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
    },
    readObject: (key: string) => readFile(toFile(key)),
    writeObject: (key: string, bytes: Uint8Array) => writeFile(toFile(key), bytes),
    /** Copies an object with its metadata, to a key that the service need not have made. */
    async copyObject(from: string, to: string) {
      const [folder, name] = [join(directory, 'skills', from, '..'), basename(from)]
      for (const file of await readdir(folder))
        if (file.startsWith(`${name}._S3rver`))
          await copyFile(join(folder, file), join(directory, 'skills', to) + file.slice(name.length))
    },
    removeObject: (key: string) => rm(toFile(key)),
    /** Sets the time of an upload. */
    setTime: (key: string, ms: number) => utimes(toFile(key), ms / 1000, ms / 1000),
  }
}

/** Faults of every request, by name. */
export const s3Faults: Readonly<Record<'slow' | 'failing' | 'closed', S3Fault>> = {
  slow: () => setTimeout(slowMs, false),
  failing: failWith(500, 'InternalError'),
  closed: (_method, response) => response.destroy() !== undefined,
}

/** A fault: every request with one of these methods gets a status and an S3 error code. */
export function failWith(status: number, code: string, ...methods: readonly string[]): S3Fault {
  return (method, response) => {
    if (methods.length > 0 && !methods.includes(method)) return false
    response.writeHead(status, { 'content-type': 'application/xml' })
    response.end(
      `<?xml version="1.0"?><Error><Code>${code}</Code><Message>&lt;b&gt; of a hostile service</Message></Error>`,
    )
    return true
  }
}
