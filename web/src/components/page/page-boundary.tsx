import { Component, type ReactNode } from 'react'
import { ErrorPage } from '#/pages/error-page.tsx'

interface State {
  /** Wrapped, because any value can be thrown. */
  readonly failure: { readonly error: unknown } | undefined
}

/** An error boundary for one page. Its key is the page's path, so that another page starts without the error. */
export class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { failure: undefined }

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } }
  }

  override render(): ReactNode {
    const { failure } = this.state
    return failure ? <ErrorPage error={failure.error} /> : this.props.children
  }
}
