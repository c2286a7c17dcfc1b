import { readFile, writeFile } from 'node:fs/promises'
import { createBundle, verifyBundle } from '@skillstead/mirror'
import { describe, expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { compress, makeFile } from '../support/bundle-acts.ts'
import { openTestMirror } from '../support/mirror-acts.ts'

describe('a bundle file with data outside its Zstandard frame', () => {
  const skippable = Buffer.concat([Buffer.from('502a4d18', 'hex'), Buffer.from([3, 0, 0, 0]), Buffer.from('tea')])

  it.each<[what: string, before: Buffer, after: Buffer]>([
    ['a byte', Buffer.alloc(0), Buffer.alloc(1)],
    ['text', Buffer.alloc(0), Buffer.from('#!/bin/sh\n')],
    ['a megabyte', Buffer.alloc(0), Buffer.alloc(1024 * 1024, 'x')],
    ['an empty frame', Buffer.alloc(0), compress(Buffer.alloc(0))],
    ['a skippable frame', Buffer.alloc(0), skippable],
    ['a skippable frame before it', skippable, Buffer.alloc(0)],
    ['an empty frame before it', compress(Buffer.alloc(0)), Buffer.alloc(0)],
  ])('is rejected with %s', async (_, before, after) => {
    const { registry, user } = await openTestMirror({ origin: 'origin.example' })
    await (await user('alice')).publishSkill({ skillMd: skillMd('tea') })
    const file = await makeFile()
    await createBundle(registry, file)
    const altered = await makeFile()
    await writeFile(altered, Buffer.concat([before, await readFile(file), after]))
    const { message } = await refusalOf(verifyBundle(altered))
    expect(message).toMatch(/^(?:The bundle is damaged: it has data after its end|This file is not a bundle)/)
  })
})
