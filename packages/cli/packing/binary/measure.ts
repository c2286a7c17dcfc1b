import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'

/** What a download is compressed with: more takes a minute, and saves a tenth. */
export const zstdLevel = 9

/** How many bytes a file is to whoever downloads it, as `zstd -9` packs it. */
export async function measureCompressed(file: string): Promise<number> {
  let bytes = 0
  const packer = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: zstdLevel } })
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), packer, async (chunks) => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) bytes += chunk.length
  })
  return bytes
}

/** The milliseconds from starting a node of a folder to its first answer over HTTP. */
export async function measureStart(file: string, data: string): Promise<number> {
  const startedMs = performance.now()
  const child = spawn(file, ['serve', '--port', '0', '--data', data, '--json'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  try {
    const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null]
    if (!(line instanceof Buffer)) throw new Error(`The node did not start: it ended with ${line}.`)
    const { url } = JSON.parse(String(line)) as { url: string }
    const status = await ask(`${url}/api/v1/skills?limit=1`)
    const tookMs = performance.now() - startedMs
    if (status !== 200) throw new Error(`The node answered ${status}.`)
    return tookMs
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** By `node:http`, which is there at once: the first `fetch` of a process takes as long as a node to start. */
async function ask(url: string): Promise<number | undefined> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return answer.statusCode
}
