import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeScratch } from './scratch.ts'

const run = promisify(execFile)

/** What a stretch of load showed. */
export interface Load {
  readonly perSecond: number
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were not 2xx or 3xx, and connections that broke. */
  readonly errors: number
}

/** Refuses to measure without wrk: a load generator in JavaScript is slower than the servers and would flatter ours. */
export function requireWrk(): void {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' })
  } catch (error) {
    if ((error as { status?: number }).status === 1) return
    throw new Error('The HTTP benchmark needs wrk (Debian: apt-get install wrk).', { cause: error })
  }
}

export interface LoadOptions {
  readonly seconds?: number
  readonly connections?: number
}

/** Loads a server for some seconds with a script for wrk. */
export async function load(
  url: string,
  script: string,
  { seconds = 3, connections = 32 }: LoadOptions = {},
): Promise<Load> {
  const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url])
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1]),
    requests: Number(/(\d+) requests in/.exec(stdout)![1]),
    p50Ms: toMs(/50%\s+([\d.]+)(\w+)/.exec(stdout)!),
    p99Ms: toMs(/99%\s+([\d.]+)(\w+)/.exec(stdout)!),
    errors: countErrors(stdout),
  }
}

/** A script that asks for each path in turn. */
export function rotate(paths: readonly string[]): string {
  const list = paths.map((path) => JSON.stringify(path)).join(',\n')
  return writeScript(`local paths = {${list}}
    local i = 0
    request = function()
      i = i % #paths + 1
      return wrk.format('GET', paths[i])
    end`)
}

/** What a benchmark publishes: a document of about so many bytes, in words that are given. */
export interface PublishedText {
  readonly bytes: number
  readonly words: readonly string[]
}

/** A document as {@link publish} sends it. */
export function toText({ bytes, words }: PublishedText, round: number): string {
  let text = `---\nname: budget-${round}\ndescription: A skill that a benchmark publishes.\n---\n# Steps\n\n`
  for (let i = round; text.length < bytes; i++)
    text += i % 48 === 47 ? '.\n\n' : `${words[(i * 7919 + round * 104_729) % words.length]!} `
  return text
}

/**
 * A script that publishes one new skill a request, all under one key, each with a text of its own: the same text again
 * and again would be found to be a copy each time. `round` keeps the names and texts of rounds apart.
 */
export function publish(key: string, { bytes, words }: PublishedText, round: number): string {
  const head = `---\\\\nname: bench-${round}-' .. i .. '\\\\ndescription: A skill that a benchmark publishes.\\\\n---\\\\n# Steps\\\\n\\\\n`
  return writeScript(`local words = {${words.map((word) => `'${word}'`).join(',')}}
    local i = 0
    math.randomseed(${round})
    local headers = { ['content-type'] = 'application/json', authorization = 'Bearer ${key}' }
    local function paragraph()
      local said = {}
      for n = 1, 48 do said[n] = words[math.random(#words)] end
      return table.concat(said, ' ') .. '.\\\\n\\\\n'
    end
    request = function()
      i = i + 1
      local text = { '${head}' }
      local left = ${bytes} - #text[1]
      while left > 0 do
        text[#text + 1] = paragraph()
        left = left - #text[#text]
      end
      return wrk.format('PUT', '/api/v1/skills', headers, '{"skillMd":"' .. table.concat(text) .. '"}')
    end`)
}

/** A script that posts each body in turn. */
export function postJson(path: string, bodies: readonly unknown[]): string {
  const list = bodies.map((body) => `[==[${JSON.stringify(body)}]==]`).join(',\n')
  return writeScript(`local bodies = {${list}}
    local i = 0
    local headers = { ['content-type'] = 'application/json' }
    request = function()
      i = i % #bodies + 1
      return wrk.format('POST', '${path}', headers, bodies[i])
    end`)
}

function writeScript(text: string): string {
  const file = join(makeScratch('load'), 'load.lua')
  writeFileSync(file, text)
  return file
}

/** What takes longer than wrk waits is slow and no error. */
function countErrors(said: string): number {
  const answers = /Non-2xx or 3xx responses: (\d+)/.exec(said)?.slice(1) ?? []
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+)/.exec(said)?.slice(1) ?? []
  return [...answers, ...broken].reduce((sum, count) => sum + Number(count), 0)
}

function toMs([, number, unit]: RegExpExecArray): number {
  const factors: Record<string, number> = { us: 0.001, ms: 1, s: 1000 }
  return Number(number) * factors[unit!]!
}
