import { api } from '../api.ts'
import { useData } from '../data/queries.ts'

/** A link to the setup of a node without users; otherwise nothing. */
export function SetupLink() {
  const setup = useData(['setup'], () => api.getSetup())
  if (!setup.data?.needed) return null
  return (
    <p class="notice fair">
      This node has no users yet. <a href="/account/setup">Set it up</a> to become its administrator.
    </p>
  )
}
