import { api } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { useData } from '../../../data/queries.ts'
import { Page } from '../../../ui/page.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { Queue } from '../queue.tsx'
import { MirrorFacts } from './mirror-facts.tsx'
import { NewMirror } from './new-mirror.tsx'

/** The upstreams of the node. */
export function MirrorsPage() {
  const found = useData(['mirrors'], () => api.listMirrors())
  return (
    <Page title="Mirrors">
      <p class="faint">Upstream registries whose skills this node copies, so that they work without a network.</p>
      <NewMirror />
      <Shown of={found}>
        {({ mirrors }) => (
          <Queue items={mirrors} label="Upstreams" empty="No upstreams.">
            {(mirror) => (
              <li key={mirror.name}>
                <h2>
                  <a href={addresses.mirror(mirror.name)}>
                    <bdi>{mirror.name}</bdi>
                  </a>
                </h2>
                <MirrorFacts of={mirror} />
              </li>
            )}
          </Queue>
        )}
      </Shown>
    </Page>
  )
}
