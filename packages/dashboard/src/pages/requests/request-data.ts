import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'

export type SkillRequest = Awaited<ReturnType<typeof api.getRequest>>
export type Status = SkillRequest['status']

export const statusTitles: Readonly<Record<Status, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  fulfilled: 'Fulfilled',
  closed: 'Closed',
}

const votePagesMax = 5

/** The ids of the requests that the visitor voted for; empty for a guest, undefined until they are loaded. */
export function useVotes(): ReadonlySet<string> | undefined {
  const me = useMe()
  const { data } = useData(['votes', me?.username], readVotes, Boolean(me))
  return me === null ? noVotes : data
}

const noVotes: ReadonlySet<string> = new Set()

/** The latest 500 votes. With more votes the oldest look as if not voted for; voting again changes nothing. */
async function readVotes(): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let page = 1; page <= votePagesMax; page++) {
    const { requests, totalPages } = await api.listVotes({ page, limit: 100 })
    for (const { id } of requests) ids.add(id)
    if (page >= totalPages) break
  }
  return ids
}

/** Reloads all data about requests. */
export async function refreshRequests(): Promise<void> {
  await Promise.all([refresh('requests'), refresh('request'), refresh('votes')])
}
