import '../../styles/account.css'
import type { FunctionComponent } from 'preact'
import { Route, Router } from 'preact-iso'
import { useMe } from '../../session.ts'
import { Page } from '../../ui/page.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { AreaTabs } from '../../ui/tabs.tsx'
import { WaitingForSession, NotHere } from '../placeholder-pages.tsx'
import { KeysPage } from './keys-page.tsx'
import { OverviewPage } from './overview-page.tsx'
import { OwnSkillsPage } from './own-skills-page.tsx'
import { PublishPage } from './publish/publish-page.tsx'
import { SessionsPage } from './sessions-page.tsx'
import { SetupPage } from './setup-page.tsx'
import { SignInPage } from './sign-in-page.tsx'
import { StarsPage } from './stars-page.tsx'
import { VerificationPage } from './verification-page.tsx'
import { WebhookPage } from './webhooks/webhook-page.tsx'
import { WebhooksPage } from './webhooks/webhooks-page.tsx'

const pages = [
  ['/account', 'You', asOwn(OverviewPage)],
  ['/account/skills', 'Skills', asOwn(OwnSkillsPage)],
  ['/account/publish', 'Publish', asOwn(PublishPage)],
  ['/account/keys', 'API keys', asOwn(KeysPage)],
  ['/account/sessions', 'Sessions', asOwn(SessionsPage)],
  ['/account/webhooks', 'Webhooks', asOwn(WebhooksPage)],
  ['/account/stars', 'Stars', asOwn(StarsPage)],
  ['/account/verification', 'Verification', asOwn(VerificationPage)],
] as const
const Webhook = asOwn(WebhookPage)

/** The pages of the signed-in user. */
export default function AccountPages() {
  return (
    <Router>
      {pages.map(([path, , component]) => (
        <Route key={path} path={path.replace('/account', '') || '/'} component={component} />
      ))}
      <Route path="/sign-in" component={SignInPage} />
      <Route path="/setup" component={SetupPage} />
      <Route path="/webhooks/:id" component={Webhook} />
      <Route default component={NotHere} />
    </Router>
  )
}

/** A page with the tabs of its area; visitors are asked to sign in. */
function asOwn(Content: FunctionComponent): FunctionComponent {
  return function OwnPage() {
    const me = useMe()
    if (me === undefined) return <WaitingForSession title="Account" />
    if (me === null) {
      return (
        <Page title="Sign in required">
          <p>
            This page is about your own account. <SignInLink>Sign in</SignInLink> first.
          </p>
        </Page>
      )
    }
    return (
      <>
        <AreaTabs label="Account" pages={pages} />
        <Content />
      </>
    )
  }
}
