import { Page } from '../../ui/page.tsx'
import { SessionTable } from '../../ui/user-access.tsx'

/** The browsers in which the user is signed in. */
export function SessionsPage() {
  return (
    <Page title="Sessions" hint="The browsers in which you are signed in. End those that you do not know.">
      <SessionTable />
    </Page>
  )
}
