import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { S3Objects } from '../../packages/core/src/storage/bucket/s3-objects.ts'
import { failWith, openS3Server, type S3Fault } from '../support/s3-server.ts'

const s3 = await openS3Server()
const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`
const keyOf = (letter: string) => `lists/${letter.repeat(64)}`

function open(prefix: string) {
  const objects = new S3Objects(s3.toOptions(prefix))
  onTestFinished(() => objects.close())
  return objects
}

const toItem = (key: string, time: string) => `<Contents><Key>${key}</Key>${time}<Size>7</Size></Contents>`

const answerWith =
  (status: number, body: string | Uint8Array, headers: Record<string, string> = {}): S3Fault =>
  (_method, response) => {
    response.writeHead(status, headers).end(body)
    return true
  }

it('the S3 client lists all pages, omits unrelated objects, and treats objects without a time as new', async () => {
  const time = '<LastModified>2026-01-02T12:00:00.000Z</LastModified>'
  const pages = [
    `<ListBucketResult><IsTruncated>true</IsTruncated>${toItem(keyOf('a'), time)}${toItem('lists/a&amp;b', time)}${toItem(keyOf('b'), '')}</ListBucketResult>`,
    `<ListBucketResult>${toItem('lists/registry', time)}${toItem(keyOf('c'), time)}${toItem(`other/${'d'.repeat(64)}`, time)}</ListBucketResult>`,
  ]
  s3.setFault((method, response) => answerWith(200, pages.shift()!)(method, response))
  const before = s3.requests.length
  const found = []
  for await (const page of open('lists').list()) found.push(...page)
  s3.setFault(undefined)
  const uploadedAt = Date.UTC(2026, 0, 2, 12)
  expect(found).toEqual([
    { digest: digestOf('a'), bytes: 7, uploadedAt },
    { digest: digestOf('b'), bytes: 7, uploadedAt: Infinity },
    { digest: digestOf('c'), bytes: 7, uploadedAt },
  ])
  const query = 'GET /skills?list-type=2&prefix=lists%2F'
  expect(s3.requests.slice(before)).toEqual([query, `${query}&start-after=lists%2F${'b'.repeat(64)}`])
})

it('the S3 client reads a part of an object even if the service ignores the range, and rejects a wrong range', async () => {
  const objects = open('parts')
  const bytes = Buffer.from('0123456789')
  await objects.put(digestOf('a'), bytes)
  const part = { from: 4, bytesMax: 3 }
  const wanted = { bytes: Buffer.from('456'), storedBytes: 10 }
  expect(await objects.getPart(digestOf('a'), part)).toEqual(wanted)
  expect(await objects.getPart(digestOf('a'), { from: 8, bytesMax: 100 })).toEqual({
    ...wanted,
    bytes: Buffer.from('89'),
  })
  expect(await objects.getPart(digestOf('b'), part)).toBeUndefined()
  s3.setFault(answerWith(200, bytes))
  expect(await objects.getPart(digestOf('a'), part)).toEqual(wanted)
  for (const range of ['bytes 0-2/10', 'bytes */10', 'none', '']) {
    s3.setFault(answerWith(206, '012', { 'content-range': range }))
    await expect(objects.getPart(digestOf('a'), part), range).rejects.toThrow('another range')
  }
  s3.setFault(undefined)
})

it('the S3 client accepts only valid responses, and treats only NoSuchKey as a missing object', async () => {
  const objects = open('answers')
  const get = () => objects.get(digestOf('a'))
  s3.setFault(failWith(404, 'NoSuchKey'))
  expect(await get()).toBeUndefined()
  const answers: readonly [S3Fault, string][] = [
    [answerWith(404, '<html>Not found</html>'), 'answered 404. Check the service and --blobs-endpoint.'],
    [answerWith(302, '', { location: 'http://169.254.169.254/' }), 'answered 302. Check the service'],
    [answerWith(403, '<Error><Code>\u001b[31mred</Code></Error>'), 'answered 403. Check the service'],
    [failWith(400, 'ExpiredToken'), 'answered 400 ExpiredToken. Check AWS_ACCESS_KEY_ID'],
    [answerWith(200, Buffer.alloc(11 * 1024 * 1024)), 'the response is larger than'],
    [answerWith(200, 'x', { 'content-encoding': 'gzip' }), 'content encoding that the request did not accept'],
  ]
  for (const [fault, text] of answers) {
    s3.setFault(fault)
    await expect(get()).rejects.toThrow(text)
  }
  s3.setFault(undefined)
})

it('the S3 client reaches AWS through the proxy, with the bucket name in the host unless the name has a dot', async () => {
  const hosts: string[] = []
  const proxy = createServer().on('connect', ({ url }, socket) => {
    hosts.push(url!)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  const httpsProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  for (const [url, region] of [['s3://skills/a'], ['s3://skills.example.com', 'eu-central-1']] as const) {
    const options = { ...s3.toOptions('', { url, proxy: { httpsProxy }, region }), endpoint: undefined }
    const objects = new S3Objects(options)
    await expect(objects.get(digestOf('a'))).rejects.toThrow('cannot be reached.')
    await objects.close()
  }
  expect([...new Set(hosts)]).toEqual(['skills.s3.us-east-1.amazonaws.com:443', 's3.eu-central-1.amazonaws.com:443'])
})
