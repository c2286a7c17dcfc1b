import type { ConnectionLimits } from '@skillstead/server'
import { UsageError, text, type Arguments, type Option } from '../command/command.ts'

/** Options for the connection limits of a node. */
export const connectionOptions: Record<string, Option> = {
  'connection-limits': {
    value: 'LIMITS',
    help: 'connection limits (any subset); times in seconds. Default: total=8192,address=1024,head=15,request=120,idle=75,answer=60',
  },
}

const limitNames: Readonly<Record<string, { readonly limit: keyof ConnectionLimits; readonly unit: number }>> = {
  total: { limit: 'connectionsMax', unit: 1 },
  address: { limit: 'addressConnectionsMax', unit: 1 },
  head: { limit: 'headMs', unit: 1000 },
  request: { limit: 'requestMs', unit: 1000 },
  idle: { limit: 'idleMs', unit: 1000 },
  answer: { limit: 'answerMs', unit: 1000 },
}

/** Throws {@link UsageError} for invalid values. */
export function toConnections(given: Arguments): Partial<ConnectionLimits> | undefined {
  const list = text(given, 'connection-limits')
  return list === undefined ? undefined : Object.fromEntries(list.split(',').map(toBound))
}

function toBound(part: string): [keyof ConnectionLimits, number] {
  const [, name = '', number = ''] = /^([a-z]+)=([1-9]\d{0,5})$/.exec(part.trim()) ?? []
  if (!Object.hasOwn(limitNames, name)) {
    throw new UsageError(
      `'${part}' is not a connection limit. Use the form address=1024 with any of ${Object.keys(limitNames).join(', ')}.`,
    )
  }
  const { limit, unit } = limitNames[name]!
  return [limit, Number(number) * unit]
}
