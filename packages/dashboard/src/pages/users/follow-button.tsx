import { api } from '../../api.ts'
import { queries, refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { ActionButton, useAction } from '../../ui/form.tsx'

/** Follows or unfollows an author; only for other signed-in users. */
export function FollowButton({ username }: { username: string }) {
  const me = useMe()
  if (!me || me.username === username) return null
  return <Follow username={username} />
}

function Follow({ username }: { username: string }) {
  const key = ['follow', username]
  const { data } = useData(key, () => api.getFollow({ username }))
  const action = useAction(async () => {
    const now = data?.following ? await api.unfollowUser({ username }) : await api.followUser({ username })
    queries.setQueryData(key, now)
    await refresh('user', username)
  })
  if (!data) return null
  return (
    <div>
      <ActionButton action={action}>{data.following ? 'Stop following' : 'Follow'}</ActionButton>
    </div>
  )
}
