import '../../styles/admin.css'
import { Route, Router } from 'preact-iso'
import { useMe } from '../../session.ts'
import { Page } from '../../ui/page.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { AreaTabs } from '../../ui/tabs.tsx'
import { WaitingForSession, NotHere } from '../placeholder-pages.tsx'
import { AuditPage } from './audit-page.tsx'
import { DmcaPage } from './dmca-page.tsx'
import { QuarantinePage } from './quarantine-page.tsx'
import { MirrorPage, MirrorsPage } from './mirrors-pages.tsx'
import { NodePage } from './node-page.tsx'
import { OutboxPage } from './outbox-page.tsx'
import { ReportsPage, CopyReportsPage } from './reports-page.tsx'
import { StoragePage } from './storage-page.tsx'
import { UserAccessPage, AdminUsersPage } from './admin-users-page.tsx'
import { VerificationsPage } from './verifications-page.tsx'

const pages = [
  ['/admin', 'Node', NodePage],
  ['/admin/users', 'Users', AdminUsersPage],
  ['/admin/quarantine', 'Quarantine', QuarantinePage],
  ['/admin/reports', 'Reports', ReportsPage],
  ['/admin/copies', 'Copies', CopyReportsPage],
  ['/admin/dmca', 'Takedowns', DmcaPage],
  ['/admin/verifications', 'Verifications', VerificationsPage],
  ['/admin/mirrors', 'Mirrors', MirrorsPage],
  ['/admin/outbox', 'Jobs', OutboxPage],
  ['/admin/storage', 'Storage', StoragePage],
  ['/admin/audit', 'Audit', AuditPage],
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
      <AreaTabs label="Operation" pages={pages} />
      <Router>
        {pages.map(([path, , component]) => (
          <Route key={path} path={path.replace('/admin', '') || '/'} component={component} />
        ))}
        <Route path="/users/:username" component={UserAccessPage} />
        <Route path="/mirrors/:upstream" component={MirrorPage} />
        <Route default component={NotHere} />
      </Router>
    </>
  )
}
