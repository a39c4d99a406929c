import { Component, type ReactNode } from 'react'
import { ErrorPage } from '#/pages/error-page.tsx'

interface State {
  /** Wrapped, because anything can be thrown. */
  readonly failure: { readonly error: unknown } | undefined
}

/** Shows what failed in the page inside instead of nothing at all. Given the page's path as key it forgets with the page. */
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
