import { describe, expect, it } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { openPair, three } from '../support/false-pair.ts'
import { createNoteSigner } from '../support/note-signer.ts'

/** A mirror that stands still because its upstream signs with another key, or under another name. */
async function openStopped(code: 'key' | 'origin', { key = false } = {}) {
  const pair = await openPair({ key })
  const { node, mirror } = pair
  const [old] = node.signers
  if (code === 'origin') node.origin = 'other.example'
  const offered = createNoteSigner(node.origin)
  node.signers = [offered]
  node.publish('alice/new')
  await refusalOf(mirror.sync('main'))
  const status = async () => (await mirror.status('main'))[0]!
  expect(await status()).toMatchObject({ alarm: { code, keys: [offered.vkey] }, keys: [old!.vkey] })
  return { ...pair, old: old!, offered, status }
}

describe.each(['key', 'origin'] as const)('a sync that accepts the pause reason %s', (code) => {
  it('trusts the key that the upstream offered at the pause, and no longer the old key', async () => {
    const { mirror, offered, served, status } = await openStopped(code)
    await mirror.sync('main', { accept: code })
    expect(await status()).toMatchObject({ alarm: null, keys: [offered.vkey], settings: { pinned: false } })
    expect(await served()).toEqual(['alice/new', ...three].toSorted())
  })

  it('rejects a key that the upstream offers later, and pauses again', async () => {
    const { node, mirror, old, offered, served, status } = await openStopped(code)
    const thief = createNoteSigner(node.origin)
    node.signers = [thief]
    expect((await refusalOf(mirror.sync('main', { accept: code }))).code).toBe('conflict')
    expect(await status()).toMatchObject({ alarm: { code: 'key', keys: [thief.vkey] }, keys: [old.vkey] })
    expect(await served()).toEqual(three)
    const again = await refusalOf(mirror.sync('main', { accept: 'key' }))
    expect(again.code).toBe('invalid_request')
    expect(again.message).toContain(`--key ${thief.vkey}`)
    expect(await status()).toMatchObject({ alarm: { code: 'key', keys: [thief.vkey] }, keys: [old.vkey] })
    node.signers = [offered]
    await mirror.sync('main', { accept: 'key', key: offered.vkey })
    expect(await status()).toMatchObject({ alarm: null, keys: [offered.vkey] })
  })

  it('is suggested in the error message, as a command that contains the offered key', async () => {
    const { mirror, offered } = await openStopped(code)
    const { message } = await refusalOf(mirror.sync('main'))
    expect(message).toContain(`\`skillstead mirror sync main --accept ${code} --key ${offered.vkey}\``)
  })

  it('keeps the old key and the pause if it fails', async () => {
    const { node, mirror, old, offered, status } = await openStopped(code)
    node.instead = (_, response) => {
      response.writeHead(404).end()
      return true
    }
    await refusalOf(mirror.sync('main', { accept: code }))
    expect(await status()).toMatchObject({ alarm: { code, keys: [offered.vkey] }, keys: [old.vkey] })
    node.instead = undefined
    await mirror.sync('main', { accept: code })
    expect(await status()).toMatchObject({ alarm: null, keys: [offered.vkey] })
  })

  it('requires the operator to pass the new key if the old key was pinned', async () => {
    const { mirror, old, offered, status } = await openStopped(code, { key: true })
    const refusal = await refusalOf(mirror.sync('main', { accept: code }))
    expect(refusal.code).toBe('invalid_request')
    expect(refusal.message).toContain(`--key ${offered.vkey}`)
    expect(await status()).toMatchObject({ alarm: { code }, keys: [old.vkey] })
    const other = createNoteSigner('other.example').vkey
    await refusalOf(mirror.sync('main', { accept: code, key: other }))
    expect(await status()).toMatchObject({ alarm: { keys: [offered.vkey] }, keys: [old.vkey] })
    const { alarm } = await status()
    await mirror.sync('main', { accept: alarm!.code, key: offered.vkey })
    expect(await status()).toMatchObject({ alarm: null, keys: [offered.vkey], settings: { pinned: true } })
  })

  it('accepts a key that the operator pinned after the pause', async () => {
    const { mirror, offered, status } = await openStopped(code, { key: true })
    await mirror.change('main', { key: offered.vkey })
    await mirror.sync('main', { accept: code })
    expect(await status()).toMatchObject({ alarm: null, keys: [offered.vkey], settings: { pinned: true } })
  })

  it('requires the operator to pass the new key if the upstream publishes no key that signs its log', async () => {
    const { node, mirror, old, offered, status } = await openStopped(code)
    const unnamed = createNoteSigner(node.origin)
    node.signers = [createNoteSigner(node.origin), { ...unnamed, vkey: offered.vkey }]
    node.instead = ({ url }, response) => {
      if (url !== '/api/v1/key') return false
      response.end(`${old.vkey}\n`)
      return true
    }
    await refusalOf(mirror.sync('main', { accept: code }))
    expect((await status()).alarm).toMatchObject({ code: 'key', keys: [] })
    expect((await refusalOf(mirror.sync('main', { accept: 'key' }))).message).toContain('--key VKEY')
    node.signers = [unnamed]
    await mirror.sync('main', { accept: 'key', key: unnamed.vkey })
    expect(await status()).toMatchObject({ alarm: null, keys: [unnamed.vkey] })
  })
})
