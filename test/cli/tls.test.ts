import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'

interface Pair {
  readonly cert: string
  readonly key: string
}
let first: Pair
let second: Pair
let folder: string

async function makePair(name: string): Promise<Pair> {
  const options = { keyType: 'ec', algorithm: 'sha256' } as const
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...options,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  return { cert, key }
}

async function writePair({ cert, key }: Pair, name = 'pair') {
  const files = [join(folder, `${name}.pem`), join(folder, `${name}.key`)] as const
  await Promise.all([writeFile(files[0], cert), writeFile(files[1], key)])
  return files
}

beforeAll(async () => {
  folder = await makeFolder()
  first = await makePair('first')
  second = await makePair('second')
})

const publicUrl = ['--public-url', 'https://skills.example.com']
const toOptions = ([cert, key]: readonly string[]) => ['--tls-cert', cert!, '--tls-key', key!]

/** The status of a request that trusts these certificates, with the name in the one that the node has. */
async function get(url: string, ca: string[]): Promise<[number, string]> {
  const request = https.get(url, { ca, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { subject } = (response.socket as TLSSocket).getPeerCertificate()
  response.resume()
  return [response.statusCode!, String(subject.CN)]
}

describe('a node with a certificate', () => {
  it('serves HTTPS, and takes a new certificate on SIGHUP without an interruption', async () => {
    const files = await writePair(first)
    const data = join(folder, 'data')
    const node = await startServer(['serve', '--port', '0', '--data', data, ...publicUrl, ...toOptions(files)])
    expect(node.url).toMatch(/^https:/)
    const [both, path] = [[first.cert, second.cert], `${node.url}/api/v1/skills`]
    expect(await get(path, both)).toEqual([200, 'first'])
    await writePair(second)
    node.hangUp()
    expect(await get(path, both)).toEqual([200, 'second'])
    await writeFile(files[0], 'nonsense')
    node.hangUp()
    expect(await get(path, both)).toEqual([200, 'second'])
    expect(node.said()).toContain(
      'The certificate stays as it is: The file of --tls-cert contains no certificate in PEM form.',
    )
    expect(await skillsteadJson(['health', '--url', node.url])).toMatchObject({ ready: true })
    expect(await node.stop()).toBe(0)
  })

  it('closes connections that speak no TLS, and serves the other connections', async () => {
    const files = await writePair(first)
    const limits = ['--connection-limits', 'head=1']
    const serve = ['serve', '--port', '0', '--data', join(folder, 'data'), ...limits, ...publicUrl, ...toOptions(files)]
    const node = await startServer(serve)
    for (const text of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\u0016\u0003\u0001', '']) {
      const socket = connect(Number(new URL(node.url).port), '127.0.0.1')
      socket.on('error', () => undefined).resume()
      socket.write(text)
      await once(socket, 'close')
    }
    expect(await get(`${node.url}/healthz`, [first.cert])).toEqual([200, 'first'])
    await node.stop()
  })

  it.each<[string, () => Promise<string[]>, string]>([
    [
      'no key',
      async () => [...publicUrl, '--tls-cert', (await writePair(first))[0]],
      'Pass both --tls-cert and --tls-key.',
    ],
    [
      'no public address',
      async () => toOptions(await writePair(first)),
      '--tls-cert needs --public-url with the host name of the certificate, https://HOST.',
    ],
    [
      'the key of another certificate',
      async () => [...publicUrl, ...toOptions(await writePair({ ...first, key: second.key }))],
      'The key of --tls-key does not belong to the first certificate of --tls-cert.',
    ],
    [
      'the files exchanged',
      async () => [...publicUrl, ...toOptions(await writePair({ cert: first.key, key: first.cert }))],
      'The file of --tls-cert contains no certificate in PEM form.',
    ],
    [
      'a key that is none',
      async () => [...publicUrl, ...toOptions(await writePair({ ...first, key: first.cert }))],
      'The file of --tls-key contains no private key in PEM form without a passphrase.',
    ],
  ])('exits with an error if started with %s', async (_, toArguments, problem) => {
    const refused = await skillstead(['serve', '--port', '0', '--data', join(folder, 'none'), ...(await toArguments())])
    expect(refused).toEqual({ code: 2, stdout: '', stderr: `${problem}\n` })
  })

  it('exits with an error if the certificate file does not exist', async () => {
    const serve = ['serve', '--data', join(folder, 'none'), ...publicUrl, '--tls-cert', 'none.pem', '--tls-key', 'a']
    expect(await skillstead(serve)).toEqual({ code: 2, stdout: '', stderr: "'none.pem' cannot be read.\n" })
  })
})

async function serveAnswer(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('skillstead health', () => {
  it('exits with 0 for a node that can take traffic, even if only the environment names the port', async () => {
    const node = await startServer(['serve', '--port', '0', '--data', join(folder, 'data')])
    const healthy = { code: 0, stdout: `${node.url}: ready\n`, stderr: '' }
    expect(await skillstead(['health', '--url', node.url])).toEqual(healthy)
    const { port } = new URL(node.url)
    for (const name of ['PORT', 'SKILLSTEAD_PORT'])
      expect(await skillstead(['health'], { env: { [name]: port, HTTP_PROXY: 'http://127.0.0.1:1' } })).toEqual(healthy)
    await node.stop()
    const stopped = await skillstead(['health', '--url', node.url])
    expect(stopped).toEqual({ code: 1, stdout: `${node.url}: no answer (ECONNREFUSED)\n`, stderr: '' })
  })

  it.each([['the environment'], ['a configuration file']])(
    'asks a node with a certificate at the port and host that %s names',
    async (place) => {
      const files = await writePair(first)
      const data = join(folder, 'data')
      const options = ['--host', '127.0.0.2', ...publicUrl, ...toOptions(files)]
      const node = await startServer(['serve', '--port', '0', '--data', data, ...options])
      const { port } = new URL(node.url)
      const config = join(folder, 'node.toml')
      const lines = [`port = ${port}`, 'host = "127.0.0.2"', `tls-cert = "${files[0]}"`, `tls-key = "${files[1]}"`]
      await writeFile(config, [...lines, `data = "${data}"`, 'site-name = "Skills"'].join('\n'))
      const env: Record<string, string> =
        place === 'a configuration file'
          ? { SKILLSTEAD_CONFIG: config }
          : { PORT: port, HOST: '127.0.0.2', SKILLSTEAD_TLS_CERT: files[0], SKILLSTEAD_TLS_KEY: files[1] }
      const healthy = { code: 0, stdout: `https://127.0.0.2:${port}: ready\n`, stderr: '' }
      expect(await skillstead(['health'], { env })).toEqual(healthy)
      await node.stop()
    },
  )

  it.each([
    [{ HOST: '0.0.0.0' }, 'http://127.0.0.1:1'],
    [{ SKILLSTEAD_HOST: '::' }, 'http://[::1]:1'],
    [{ HOST: '::1' }, 'http://[::1]:1'],
    // A name of the machine, which some shells set.
    [{ HOST: 'machine' }, 'http://127.0.0.1:1'],
    [{ SKILLSTEAD_URL: 'http://other.example', SKILLSTEAD_TLS_CERT: 'none.pem' }, 'https://127.0.0.1:1'],
  ])('asks the node of this machine for %j', async (env, url) => {
    const { stdout } = await skillstead(['health'], { env: { PORT: '1', ...env } as Record<string, string> })
    expect(stdout).toMatch(new RegExp(`^${url.replaceAll(/[[\]]/g, '\\$&')}: no answer`))
  })

  it.each([
    [{ PORT: '0' }, "'0' is not a port"],
    [{ PORT: 'x' }, "'x' is not a port"],
    [{ SKILLSTEAD_CONFIG: 'none.toml' }, "'none.toml' cannot be read."],
  ])('refuses environment variables that are invalid for a node: %j', async (env, problem) => {
    const refused = await skillstead(['health'], { env: env as unknown as Record<string, string> })
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(problem) })
  })

  it.each([
    [503, '{"detail":"Not ready: disk."}', 'not ready: it answered 503, Not ready: disk.'],
    [200, '<html>Another program</html>', 'not ready: it answered 200'],
    [200, '{"ready":false}', 'not ready: it answered 200'],
    [503, `{"detail":"\\u001b[31ma\\nb"}`, 'not ready: it answered 503, [31ma b'],
  ])('exits with 1 and one line for %i %j', async (status, body, detail) => {
    const url = await serveAnswer(status, body)
    expect(await skillstead(['health', '--url', url])).toEqual({ code: 1, stdout: `${url}: ${detail}\n`, stderr: '' })
  })

  it('reads at most 64 KiB of a response', async () => {
    const url = await serveAnswer(200, 'x'.repeat(100_000))
    expect(await skillstead(['health', '--url', url])).toMatchObject({
      code: 1,
      stdout: `${url}: not ready: the answer is too long\n`,
    })
  })

  it.each(['nonsense', 'ftp://host', 'http://a:b@host'])('refuses the invalid node URL %s', async (url) => {
    expect(await skillstead(['health', '--url', url])).toMatchObject({ code: 2, stdout: '' })
  })
})
