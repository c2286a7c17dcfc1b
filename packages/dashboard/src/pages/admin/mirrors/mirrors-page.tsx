import { api } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { useData } from '../../../data/queries.ts'
import { Page } from '../../../ui/page.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { Queue } from '../queue.tsx'
import { MirrorFacts } from './mirror-facts.tsx'
import { NewMirror } from './new-mirror.tsx'

/** The registries that the node follows. */
export function MirrorsPage() {
  const found = useData(['mirrors'], () => api.listMirrors())
  return (
    <Page title="Mirrors">
      <p class="faint">Registries that this node follows, to have their skills where there is no network.</p>
      <NewMirror />
      <Shown of={found}>
        {({ mirrors }) => (
          <Queue items={mirrors} label="Upstreams" empty="Nothing is followed.">
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
