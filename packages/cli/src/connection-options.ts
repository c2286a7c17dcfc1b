import type { ConnectionLimits } from '@skillstead/server'
import { UsageError, text, type Arguments, type Option } from './command.ts'

/** What a node bears of those who connect to it. */
export const connectionOptions: Record<string, Option> = {
  'connection-limits': {
    value: 'LIMITS',
    help: 'as total=8192,address=1024,head=15,request=120,idle=75,answer=60 (any subset; the times in seconds)',
  },
}

const bounds: Readonly<Record<string, { readonly limit: keyof ConnectionLimits; readonly unit: number }>> = {
  total: { limit: 'connectionsMax', unit: 1 },
  address: { limit: 'addressConnectionsMax', unit: 1 },
  head: { limit: 'headMs', unit: 1000 },
  request: { limit: 'requestMs', unit: 1000 },
  idle: { limit: 'idleMs', unit: 1000 },
  answer: { limit: 'answerMs', unit: 1000 },
}

/** Throws {@link UsageError} for what cannot be read. */
export function toConnections(given: Arguments): Partial<ConnectionLimits> | undefined {
  const list = text(given, 'connection-limits')
  return list === undefined ? undefined : Object.fromEntries(list.split(',').map(toBound))
}

function toBound(part: string): [keyof ConnectionLimits, number] {
  const [, name = '', number = ''] = /^([a-z]+)=([1-9]\d{0,5})$/.exec(part.trim()) ?? []
  if (!Object.hasOwn(bounds, name)) {
    throw new UsageError(`'${part}' is no bound: write it as address=1024, of ${Object.keys(bounds).join(', ')}.`)
  }
  const { limit, unit } = bounds[name]!
  return [limit, Number(number) * unit]
}
