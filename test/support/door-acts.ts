import { afterEach, beforeEach, expect } from 'vitest'

/** A request that is always answered 200. */
export const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'

/** A request that publishes a body, signed in where a key is given. */
export function putRaw({ key }: { key?: string }, body: string, more = ''): string {
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`
  return `PUT /api/v1/skills HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: application/json\r\n${more}\r\n${body}`
}

/** Makes each test of a file fail on an unhandled promise rejection. */
export function watchRejections(): void {
  const rejections: unknown[] = []
  const onRejection = (error: unknown) => void rejections.push(error)
  beforeEach(() => void process.on('unhandledRejection', onRejection))
  afterEach(() => {
    process.off('unhandledRejection', onRejection)
    expect(rejections.splice(0)).toEqual([])
  })
}
