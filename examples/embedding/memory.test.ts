// Tests of a program that uses skills, on a registry in memory. Run them with
//   node --conditions=source --test examples/embedding/memory.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSkills } from '@skillstead/core'

const skillMd = '---\nname: tea\ndescription: Make a good cup of tea.\n---\n# Tea\n\nWarm the pot first.\n'

test('the agent finds the skill for its task', async (t) => {
  const skills = await openSkills({ path: ':memory:', profile: 'short', as: 'tester' })
  t.after(() => skills.close())
  await skills.api.publishSkill({ skillMd })
  const { skills: found } = await skills.search('cup of tae')
  assert.deepEqual(
    found.map(({ fullName }) => fullName),
    ['tester/tea'],
  )
})

test('each registry in memory begins empty', async (t) => {
  const skills = await openSkills({ path: ':memory:', profile: 'short', as: 'tester' })
  t.after(() => skills.close())
  assert.equal((await skills.search('tea')).total, 0)
})
