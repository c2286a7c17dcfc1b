import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  const written = given.io.env[variable]
  if (written)
    return parse(written) ?? refuse(`${variable} is no secret key: base64 of ${secretKeyBytes} bytes is needed.`)
  const data = text(given, 'data')
  return data === undefined ? undefined : readOrMake(join(data, fileName))
}

/** As {@link toSecretKey}, and makes none where there is none; undefined for one that cannot be read. */
export function findSecretKey(given: Arguments): Uint8Array | undefined {
  const data = text(given, 'data')
  if (given.io.env[variable]) return toSecretKey(given)
  const written = data === undefined ? undefined : read(join(data, fileName))
  return written === undefined ? undefined : parse(written)
}

function readOrMake(file: string): Uint8Array {
  const written = read(file) ?? make(file)
  const key = parse(written)
  if (key) return key
  throw new Error(
    `${file} holds no secret key. Put it back from a copy; without it the API keys that it sealed are lost.`,
  )
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (toCode(error) === 'ENOENT') return undefined
    throw toSentence(`${file} cannot be read`, error)
  }
}

/** It is there whole or not at all, whether the disk is full or the process is killed: half a key would lock everything out. */
function make(file: string): string {
  const written = `${randomBytes(secretKeyBytes).toString('base64')}\n`
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    writeNew(partial, written)
    return place(partial, file) ? written : readFileSync(file, 'utf8')
  } catch (error) {
    throw toSentence(`${file}, which API keys are sealed with, cannot be made`, error)
  } finally {
    rmSync(partial, { force: true })
  }
}

function writeNew(file: string, written: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(descriptor, written)
    fsyncSync(descriptor)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** False where another process was as quick: its key is the one. Where there are no links, whoever creates it has it. */
function place(partial: string, file: string): boolean {
  try {
    linkSync(partial, file)
    return true
  } catch (error) {
    if (toCode(error) === 'EEXIST') return false
  }
  try {
    writeNew(file, readFileSync(partial, 'utf8'))
    return true
  } catch (error) {
    if (toCode(error) === 'EEXIST') return false
    throw error
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not. Run this as the user that the registry belongs to, or set SKILLSTEAD_SECRET_KEY.',
  EPERM: 'this user may not. Run this as the user that the registry belongs to, or set SKILLSTEAD_SECRET_KEY.',
  EROFS: 'the disk is read-only. Set SKILLSTEAD_SECRET_KEY, or use another folder.',
  ENOSPC: 'the disk is full. Make room, and run this again.',
  EFBIG: 'the disk takes no more. Make room, and run this again.',
  EDQUOT: 'the disk is full. Make room, and run this again.',
  ENOENT: 'no file can be made in that folder. Give another one with --data.',
  ENOTDIR: 'that is no folder. Give one with --data.',
}

function toSentence(what: string, cause: unknown): unknown {
  const reason = reasons[toCode(cause) ?? '']
  return reason === undefined ? cause : new Error(`${what}: ${reason}`, { cause })
}

function toCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function parse(written: string): Uint8Array | undefined {
  const key = Buffer.from(written.trim(), 'base64')
  return key.length === secretKeyBytes ? key : undefined
}

function refuse(sentence: string): never {
  throw new UsageError(sentence)
}
