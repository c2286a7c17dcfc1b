import '../../styles/admin.css'
import { Route, Router } from 'preact-iso'
import { useMe } from '../../data/session.ts'
import { Page } from '../../ui/page.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { AreaTabs } from '../../ui/tabs.tsx'
import { WaitingForSession, NotHere } from '../stand-ins.tsx'
import { AuditPage } from './audit-page.tsx'
import { CopyReportsPage } from './copy-reports-page.tsx'
import { DmcaPage } from './dmca-page.tsx'
import { QuarantinePage } from './quarantine-page.tsx'
import { MirrorPage } from './mirrors/mirror-page.tsx'
import { MirrorsPage } from './mirrors/mirrors-page.tsx'
import { NodePage } from './node-page.tsx'
import { OutboxPage } from './outbox-page.tsx'
import { ReportsPage } from './reports-page.tsx'
import { StoragePage } from './storage-page.tsx'
import { UsersPage } from './admin-users-page.tsx'
import { VerificationsPage } from './verifications-page.tsx'

const parts = [
  ['/admin', 'Node'],
  ['/admin/users', 'Users'],
  ['/admin/quarantine', 'Quarantine'],
  ['/admin/reports', 'Reports'],
  ['/admin/copies', 'Copies'],
  ['/admin/dmca', 'Takedowns'],
  ['/admin/verifications', 'Verifications'],
  ['/admin/mirrors', 'Mirrors'],
  ['/admin/outbox', 'Outbox'],
  ['/admin/storage', 'Storage'],
  ['/admin/audit', 'Audit'],
] as const

/** The pages for administrators. */
export default function AdminPages() {
  const me = useMe()
  if (me === undefined) return <WaitingForSession title="Operation" />
  if (me?.role !== 'admin') {
    return (
      <Page title="For administrators">
        <p>
          {me ? (
            'Your account is not an administrator of this node.'
          ) : (
            <SignInLink>Sign in as an administrator.</SignInLink>
          )}
        </p>
      </Page>
    )
  }
  return (
    <>
      <AreaTabs label="Operation" pages={parts} />
      <Router>
        <Route path="/" component={NodePage} />
        <Route path="/users" component={UsersPage} />
        <Route path="/quarantine" component={QuarantinePage} />
        <Route path="/reports" component={ReportsPage} />
        <Route path="/copies" component={CopyReportsPage} />
        <Route path="/dmca" component={DmcaPage} />
        <Route path="/verifications" component={VerificationsPage} />
        <Route path="/mirrors" component={MirrorsPage} />
        <Route path="/mirrors/:upstream" component={MirrorPage} />
        <Route path="/outbox" component={OutboxPage} />
        <Route path="/storage" component={StoragePage} />
        <Route path="/audit" component={AuditPage} />
        <Route default component={NotHere} />
      </Router>
    </>
  )
}
