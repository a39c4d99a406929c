import { completeDocument, escaped, mainLink } from './document.ts'

export interface RefusalView {
  readonly status: number
  /** In place of the status's usual title. */
  readonly title?: string
  /** For the person who asked: why, and what to do. */
  readonly message: string
  readonly dashboardUrl: string
}

const titles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  403: 'No entry here',
  404: 'There is nothing here',
  405: 'This cannot be done here',
  429: 'Too much at once',
  431: 'The request is too large',
  502: 'The app does not answer',
  503: 'This is not available at the moment',
  504: 'The app takes too long',
}

/** A complete page that tells a person why they see no app, and the way on. Send it with `pagePolicy`. */
export function refusalPage({ status, title, message, dashboardUrl }: RefusalView): string {
  const heading = title ?? titles[status] ?? 'This did not work'
  return completeDocument(heading, dashboardUrl, {
    html: `<h1>${escaped(heading)}</h1>
<p>${escaped(message)}</p>
${mainLink(dashboardUrl, 'Open the dashboard')}
<p class="hint">Status ${status}</p>
`,
  })
}
