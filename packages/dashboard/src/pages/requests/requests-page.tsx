import '../../styles/requests.css'
import { useState } from 'preact/hooks'
import { useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { NewRequest } from './new-request.tsx'
import { RequestList } from './request-list.tsx'
import { RequestView } from './request-view.tsx'

/** Skill requests: the list, one in full (`id`), or a new one (`new`, with its title). */
export default function RequestsPage() {
  const { fields } = useAddress()
  const [filed, setFiled] = useState<string>()
  if (fields.new !== undefined) {
    return (
      <Page title="Ask for a skill">
        <NewRequest title={fields.new.slice(0, 200)} filed={setFiled} />
      </Page>
    )
  }
  if (fields.id) {
    return <RequestView key={fields.id} id={fields.id} isNew={filed === fields.id} />
  }
  return (
    <Page
      title="Requests"
      aside={
        <a class="button" href="/requests?new=">
          Ask for a skill
        </a>
      }
    >
      <RequestList />
    </Page>
  )
}
