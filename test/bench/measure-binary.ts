import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'

/** The zstd level of a download: higher levels take a minute and save a tenth. */
export const zstdLevel = 9

/** The download size of a file in bytes, compressed with `zstd -9`. */
export async function measureCompressed(file: string): Promise<number> {
  let bytes = 0
  const packer = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: zstdLevel } })
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), packer, async (chunks) => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) bytes += chunk.length
  })
  return bytes
}

/** The time from starting a node on a folder to its first HTTP response, in milliseconds. `command`: with its arguments. */
export async function measureStart([file, ...args]: readonly [string, ...string[]], data: string): Promise<number> {
  const startedMs = performance.now()
  const all = [...args, 'serve', '--port', '0', '--data', data, '--json']
  const child = spawn(file, all, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  try {
    const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null]
    if (!(line instanceof Buffer))
      throw new Error(`The node ended before it printed its address: its exit code was ${line}.`)
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

/** Uses `node:http`: the first `fetch` of a process takes as long as starting a node. */
async function ask(url: string): Promise<number | undefined> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return answer.statusCode
}
