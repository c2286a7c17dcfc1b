import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretKeyBytes } from '@skillstead/core'
import { UsageError, text, type Arguments } from './command.ts'

const variable = 'SKILLSTEAD_SECRET_KEY'
const fileName = 'secret.key'

/**
 * The key that a registry seals API keys with: that of SKILLSTEAD_SECRET_KEY, or the one beside the files of the registry,
 * which is made where there is none. Undefined for a database without the variable: nothing can be sealed there.
 */
export function toSecretKey(given: Arguments): Uint8Array | undefined {
  const written = process.env[variable]
  if (written)
    return parse(written) ?? refuse(`${variable} is no secret key: base64 of ${secretKeyBytes} bytes is needed.`)
  const data = text(given, 'data')
  return data === undefined ? undefined : readOrMake(data)
}

function readOrMake(data: string): Uint8Array {
  const file = join(data, fileName)
  const made = randomBytes(secretKeyBytes)
  try {
    writeFileSync(file, `${made.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = parse(readFileSync(file, 'utf8'))
  if (key) return key
  throw new Error(
    `${file} holds no secret key. Put it back from a copy; without it the API keys that it sealed are lost.`,
  )
}

function parse(written: string): Uint8Array | undefined {
  const key = Buffer.from(written.trim(), 'base64')
  return key.length === secretKeyBytes ? key : undefined
}

function refuse(sentence: string): never {
  throw new UsageError(sentence)
}
