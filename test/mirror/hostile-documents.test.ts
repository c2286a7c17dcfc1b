import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { compress } from '../support/bundle-acts.ts'
import { openFalseNode } from '../support/false-node.ts'
import type { HostileDocument, Outcome } from '../support/hostile-documents-program.ts'
import { secret, sign } from '../support/signed-delivery.ts'

const program = fileURLToPath(new URL('../support/hostile-documents-program.ts', import.meta.url))
/** Enough for the program and for every honest document. */
const heapMiB = 160

/** A JSON text with one value 3 million times, or `total` times; gzip makes a few kilobytes of it. */
function repeat(before: string, value: string, after: string, total = 3_000_000): string {
  return `${before}${`${value},`.repeat(total - 1)}${value}${after}`
}

const feed = '{"origin":"a","epoch":1,"next":0,"head":0,"checkpoint":null,"entries":['
const index = '{"skills":['
const list = '{"total":1,"totalPages":1,"skills":['
/** Of values: fewer than are refused at once. */
const manyObjects = 450_000

describe('untrusted documents with millions of values', () => {
  it('are refused by every reader before they exhaust the memory', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skillstead-hostile-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = async (content: string | Uint8Array) => {
      const place = join(folder, randomUUID())
      await writeFile(place, content)
      return place
    }
    const header = repeat('{"format":"skillstead-bundle","version":1,"keys":[', '0', ']}', 500_000)
    const delivery = sign(
      repeat(
        '{"id":"x","event":"ping","timestamp":"2026-01-02T12:00:00.000Z","data":{"webhook":[',
        '0',
        ']}}',
        450_000,
      ),
    )
    const headers = { ...delivery.headers, 'x-secret': secret }
    const cases: [string, Omit<HostileDocument, 'title'>, string][] = [
      [
        'numbers in a feed',
        { reader: 'node', place: await serve(repeat(feed, '0', ']}')) },
        'more than 1000000 values',
      ],
      [
        'objects in a feed',
        { reader: 'node', place: await serve(repeat(feed, '{}', ']}', manyObjects)) },
        'a page of 450000 entries',
      ],
      [
        'fields in an entry of a feed',
        { reader: 'node', place: await serve(repeat(`${feed}{"data":[`, '{}', ']}]}', manyObjects)) },
        'seq',
      ],
      ['lines in a checkpoint', { reader: 'node', place: await serveCheckpoint() }, 'longer than 65536 characters'],
      [
        'numbers in a line of a list of files',
        { reader: 'node', place: await serveFiles() },
        'a line that describes no file',
      ],
      [
        'numbers in a list of skills',
        { reader: 'registry', place: await serve(repeat(list, '0', ']}')) },
        'more than 1000000 values',
      ],
      [
        'objects in a list of skills',
        { reader: 'registry', place: await serve(repeat(list, '{}', ']}', manyObjects)) },
        'something other than a list of skills',
      ],
      [
        'numbers in an index',
        { reader: 'discovery', place: await serve(repeat(index, '0', ']}')) },
        'more than 1000000 values',
      ],
      [
        'numbers for the files of a skill in an index',
        { reader: 'discovery', place: await serve(repeat(`${index}{"name":"a","files":[`, '0', ']}]}', manyObjects)) },
        '1 refused',
      ],
      [
        'lines in a list of keys',
        { reader: 'find', place: await serve('\n'.repeat(16_000_000), 'text/plain') },
        'larger than 65536 bytes',
      ],
      [
        'numbers in an answer of a node',
        { reader: 'client', place: await serve(repeat(feed, '0', ']}')) },
        'more than 1000000 values',
      ],
      [
        'numbers in an error of a node',
        { reader: 'client', place: await serve(repeat('{"errors":[', '0', ']}'), 'application/problem+json', 400) },
        'sent more data than a registry sends',
      ],
      [
        'numbers in the header of a bundle',
        { reader: 'inspect', place: await file(toBundle('bundle.json', header)) },
        'not a bundle',
      ],
      [
        'numbers in a provenance record',
        { reader: 'provenance', place: await file(repeat('{"forkChain":[', '0', ']}', manyObjects)) },
        'skill',
      ],
      [
        'numbers in a webhook delivery',
        { reader: 'webhook', place: await file(delivery.body), headers },
        'not that of the event ping',
      ],
    ]
    const documents = cases.map(([title, document]) => ({ title, ...document }))
    const outcomes = await readAll(await file(JSON.stringify(documents)))
    expect(outcomes).toEqual(
      cases.map(([title, , words]) => ({ title, outcome: expect.stringContaining(words) as string })),
    )
  })
})

/** What the program prints before it ends, with little memory. */
async function readAll(documents: string): Promise<Outcome[]> {
  const args = ['--conditions=source', `--max-old-space-size=${heapMiB}`, program, documents]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcomes: Outcome[] = []
  createInterface(child.stdout).on('line', (line) => outcomes.push(JSON.parse(line) as Outcome))
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += String(chunk)))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect([code, signal, errors, outcomes.at(-1)]).toEqual([0, null, '', expect.anything()])
  return outcomes
}

async function serve(content: string, type = 'application/json', status = 200): Promise<string> {
  const packed = gzipSync(content)
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' }).end(packed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serveCheckpoint(): Promise<string> {
  const node = await openFalseNode(Date.now())
  node.page = (page) => ({ ...page, checkpoint: `a\n1\n${'b\n'.repeat(5_000_000)}\n\u2014 a b\n` })
  return node.url
}

/** A signed log of a version, and a flood in place of its file. */
async function serveFiles(): Promise<string> {
  const node = await openFalseNode(Date.now())
  node.publish('alice/tea')
  const flood = gzipSync(repeat('{"digest":[', '0', ']}\n'))
  node.instead = ({ url }, response) => {
    if (url !== '/api/v1/blobs/batch') return false
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }).end(flood)
    return true
  }
  return node.url
}

/** A bundle that ends after its first part. */
function toBundle(name: string, content: string): Buffer {
  const bytes = Buffer.from(content)
  const block = Buffer.alloc(512)
  const fields: [number, string][] = [
    [0, name],
    [100, '0000644\0'],
    [108, '0000000\0'],
    [116, '0000000\0'],
    [124, bytes.length.toString(8).padStart(11, '0')],
    [136, '00000000000\0'],
    [148, '        '],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [at, text] of fields) block.write(text, at, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return compress(Buffer.concat([block, bytes, Buffer.alloc(-bytes.length & 511)]))
}
