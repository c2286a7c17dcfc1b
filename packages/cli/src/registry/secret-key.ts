import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readErrorCode } from '@skillstead/protocol'
import { join } from 'node:path'
import { secretKeyBytes } from '@skillstead/core'
import { readVariable } from '../terminal/io.ts'
import { UsageError, textOption, type Arguments } from '../command/command.ts'

const variable = 'SKILLSTEAD_SECRET_KEY'
const fileName = 'secret.key'

/**
 * The key that encrypts stored API keys: SKILLSTEAD_SECRET_KEY, or the key file in the registry's folder, which is
 * created if missing. Undefined for a database without the variable: API keys cannot be stored there.
 */
export function toSecretKey(given: Arguments): Uint8Array | undefined {
  const written = readVariable(given.io.env, variable)
  if (written)
    return (
      parseSecretKey(written) ??
      refuseSecretKey(`${variable} is not a secret key. Use ${secretKeyBytes} bytes in base64.`)
    )
  const data = textOption(given, 'data')
  return data === undefined ? undefined : readOrMake(join(data, fileName))
}

/** Like {@link toSecretKey}, but creates no key. Undefined for a missing or unreadable key. */
export function findSecretKey(given: Arguments): Uint8Array | undefined {
  const data = textOption(given, 'data')
  if (readVariable(given.io.env, variable) !== undefined) return toSecretKey(given)
  const written = data === undefined ? undefined : readKeyFile(join(data, fileName))
  return written === undefined ? undefined : parseSecretKey(written)
}

function readOrMake(file: string): Uint8Array {
  const written = readKeyFile(file) ?? makeKeyFile(file)
  const key = parseSecretKey(written)
  if (key) return key
  throw new Error(`${file} contains no secret key. Restore it from a copy; without it the stored API keys are lost.`)
}

function readKeyFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined
    throw toKeyFileError(`${file} cannot be read`, error)
  }
}

/**
 * Creates the key file atomically, also if the disk is full or the process is killed: half a key would make all stored
 * API keys unreadable.
 */
function makeKeyFile(file: string): string {
  const written = `${randomBytes(secretKeyBytes).toString('base64')}\n`
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    writeNew(partial, written)
    return placeKeyFile(partial, file) ? written : readFileSync(file, 'utf8')
  } catch (error) {
    throw toKeyFileError(`${file}, the key that encrypts stored API keys, cannot be created`, error)
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

/**
 * Gives the partial file the name of the key file. Returns false if another process created the key file first: its key
 * is used. On file systems without hard links the key file is created exclusively.
 */
function placeKeyFile(partial: string, file: string): boolean {
  try {
    linkSync(partial, file)
    return true
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') return false
  }
  try {
    writeNew(file, readFileSync(partial, 'utf8'))
    return true
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') return false
    throw error
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied. Run this as the user who owns the registry, or set SKILLSTEAD_SECRET_KEY.',
  EPERM: 'permission denied. Run this as the user who owns the registry, or set SKILLSTEAD_SECRET_KEY.',
  EROFS: 'the disk is read-only. Set SKILLSTEAD_SECRET_KEY, or use another folder.',
  ENOSPC: 'the disk is full. Free some space and run this again.',
  EFBIG: 'the file size limit is reached. Raise it and run this again.',
  EDQUOT: 'the disk is full. Free some space and run this again.',
  ENOENT: 'the folder cannot be written to. Pass another one with --data.',
  ENOTDIR: 'the path is not a folder. Pass a folder with --data.',
}

function toKeyFileError(what: string, cause: unknown): unknown {
  const reason = reasons[readErrorCode(cause) ?? '']
  return reason === undefined ? cause : new Error(`${what}: ${reason}`, { cause })
}

function parseSecretKey(written: string): Uint8Array | undefined {
  const key = Buffer.from(written.trim(), 'base64')
  return key.length === secretKeyBytes ? key : undefined
}

function refuseSecretKey(sentence: string): never {
  throw new UsageError(sentence)
}
