import { Component, type ComponentChildren } from 'preact'
import { Page } from './ui/page.tsx'

interface Props {
  /** The address: what failed at one place is no reason to show nothing at the next. */
  readonly place: string
  readonly children: ComponentChildren
}

/** Shows, in the place of a page that failed, that it did; the frame around it goes on. */
export class Boundary extends Component<Props, { failedAt?: string }> {
  override componentDidCatch(error: unknown) {
    reportError(error)
    this.setState({ failedAt: this.props.place })
  }

  override render({ place, children }: Props) {
    if (this.state.failedAt !== place) return children
    return (
      <Page title="This page failed">
        <p role="alert">
          That is a mistake of the dashboard. Reload the page; if that does not help, tell who runs this node what you
          did before.
        </p>
      </Page>
    )
  }
}
