import { Component, type ComponentChildren } from 'preact'
import { Page } from './ui/page.tsx'

interface Props {
  /** The address of the page; an error at one address must not hide the page at the next address. */
  readonly place: string
  readonly children: ComponentChildren
}

/** Shows an error in place of a page that failed; the frame around it keeps working. */
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
          This is an error in the dashboard. Reload the page. If that does not help, report to the operator of this node
          what you did before.
        </p>
      </Page>
    )
  }
}
