import type { Language } from '@berth/api/boot.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { PageLook } from '#/port/gateway-settings.ts'
import { localize } from './localize-plain.ts'
import { completeDocument, escaped, mainLink } from './document.ts'

export interface RefusalView {
  readonly status: number
  /** In place of the status's usual title. */
  readonly title?: LocalizedMessage
  /** For the person who asked: why, and what to do. */
  readonly message: LocalizedMessage
  readonly dashboardUrl: string
  /** Where the way in that was refused begins anew; undefined where there is none. */
  readonly againUrl?: string | undefined
  /** Where another account signs in and comes back; undefined where that would not help. */
  readonly loginUrl?: string | undefined
  readonly language: Language
  readonly look?: PageLook | undefined
}

const titles: Readonly<Record<number, LocalizedMessage>> = {
  400: message('pages.title400'),
  401: message('pages.title400'),
  403: message('pages.title403'),
  404: message('pages.title404'),
  405: message('pages.title405'),
  414: message('pages.title414'),
  429: message('pages.title429'),
  431: message('pages.title431'),
  502: message('pages.title502'),
  503: message('pages.title503'),
  504: message('pages.title504'),
}

/** A complete page that tells a person why they see no app, and the way on. Send it with `pagePolicy`. */
export function refusalPage(view: RefusalView): string {
  const { status, dashboardUrl, language, look } = view
  const heading = localize(language, view.title ?? titles[status] ?? message('pages.titleOther'))
  return completeDocument(
    { title: heading, dashboardUrl, language, look },
    {
      html: `<h1>${escaped(heading)}</h1>
<p>${escaped(localize(language, view.message))}</p>
${linksOf(view).join('\n')}
<p class="hint">${escaped(localize(language, message('pages.status', { status })))}</p>
`,
    },
  )
}

function linksOf({ againUrl, dashboardUrl, loginUrl, language }: RefusalView): string[] {
  const targets = [
    { url: againUrl, text: message('pages.openAgain') },
    { url: dashboardUrl, text: message('pages.openDashboard') },
    { url: loginUrl, text: message('pages.otherAccount') },
  ]
  return targets
    .flatMap(({ url, text }) => (url === undefined ? [] : [[url, localize(language, text)] as const]))
    .map(([url, text], at) =>
      at === 0 ? mainLink(url, text) : `<p><a href="${escaped(url)}">${escaped(text)}</a></p>`,
    )
}
