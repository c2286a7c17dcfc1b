import type { Registry } from '@skillstead/core'
import { checkRegistry, repairRegistry, type Finding } from '@skillstead/maintenance'
import { command, flag, type Arguments } from '../../command/command.ts'
import { findStorageSentence } from '../../registry/failure-sentences.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import type { Output } from '../../terminal/output.ts'
import { styled, type Line } from '../../terminal/style.ts'

export const commands = {
  doctor: command({
    description: 'Check the registry and the machine it runs on. Exits with an error if anything is wrong.',
    options: {
      deep: { help: 'read and verify all stored data, which takes minutes for a large registry' },
      repair: { help: 'rebuild derived data that is wrong; changes nothing if only a backup could repair a finding' },
      ...storeOptions,
    },
    async run(given, output) {
      const node = { name: 'node', ok: true, detail: `Node ${process.versions.node}` }
      const findings = [node, ...(await examineRegistry(given, output))]
      const wrong = findings.filter(({ ok }) => !ok)
      if (wrong.length === 0) return { ok: true, findings }
      for (const line of findings.map(toFindingLine)) output.say(line)
      throw new Error(wrong.map(({ name, detail }) => `${name}: ${detail}`).join(' '))
    },
    show: ({ findings }) => findings.map(toFindingLine),
  }),
}

/** Reports a registry that cannot be opened as a finding. */
async function examineRegistry(given: Arguments, output: Output): Promise<Finding[]> {
  const options = { deep: flag(given, 'deep'), report: output.say }
  try {
    return await withRegistry(given, (registry) => checkAndRepair(registry, options, flag(given, 'repair')))
  } catch (error) {
    const detail = findStorageSentence(error)
    if (detail === undefined) throw error
    return [{ name: 'database', ok: false, detail }]
  }
}

/** Repairs only if every finding is repairable: data derived from damaged data would be wrong too. */
async function checkAndRepair(
  registry: Registry,
  options: Parameters<typeof checkRegistry>[1],
  repairs: boolean,
): Promise<Finding[]> {
  const findings = await checkRegistry(registry, options)
  const wrong = findings.filter(({ ok }) => !ok)
  if (!repairs || wrong.length === 0 || wrong.some(({ repairable }) => !repairable)) return findings
  await repairRegistry(registry, findings)
  return checkRegistry(registry, options)
}

function toFindingLine({ name, ok, detail }: Finding): Line {
  return styled(ok ? 'good' : 'bad', `${ok ? 'ok   ' : 'WRONG'} ${name.padEnd(10)} ${detail}`)
}
