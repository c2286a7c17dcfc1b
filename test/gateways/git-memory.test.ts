import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { createVersionTrees } from '../../packages/gateways/src/git/version-trees.ts'
import { startGit } from '../support/git-acts.ts'

it('the tree of a version is found after another one with its digest was deleted', async () => {
  const { registry } = await startGit()
  const context = partsOf(registry)
  const select = context.database.read.selectFrom('versions').select(['id', 'digest'])
  const { id, digest } = await select.where('version', '=', '1.0.0').executeTakeFirstOrThrow()
  const trees = createVersionTrees(context)
  const deleted = { id: 'deleted', digest }
  expect(await trees.findRoots([deleted])).toEqual(new Map())
  expect([...(await trees.findRoots([{ id, digest }])).keys()]).toEqual([digest])
})
