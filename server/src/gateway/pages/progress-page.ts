import { closeDocument, escaped, mainLink, openDocument, sameAddress, type Markup } from './document.ts'

/**
 * A page that is sent in pieces while a container starts: `progressHead`, any number of `progressStep`, one
 * `progressDone`. The connection stays open in between, and a browser shows each piece when it comes, without a script.
 * Send it with status 503, `Retry-After`, `Cache-Control: no-store`, `X-Content-Type-Options: nosniff` (a browser that
 * guesses the type waits for more) and `pagePolicy`.
 *
 * Nothing reloads on a timer. A timer at the top would start only when the document is complete, and would then take
 * away the reason of a failure under its reader's eyes. Where the connection breaks, the link "Try again" is there.
 */
export function progressHead({ displayName, dashboardUrl }: ProgressView): string {
  const name = escaped(displayName)
  return `${openDocument(displayName, dashboardUrl)}<div class="waiting part">
<h1>Starting ${name}</h1>
<p>${name} is being started for you. This page moves on by itself as soon as it answers; there is nothing to do but wait a moment.</p>
<div class="bar" role="progressbar" aria-label="Starting ${name}"></div>
<p class="hint">Nothing new for a minute? <a href="${sameAddress}">Try again</a></p>
<div role="log" aria-label="Steps">
<ol class="steps">
`
}

export interface ProgressView {
  readonly displayName: string
  readonly dashboardUrl: string
}

/** What happens from now on, with a clock that runs until the next step follows. @param text a few words, such as "Starting the container" */
export function progressStep(text: string): string {
  return `<li><span>${escaped(text)}</span> <span class="clock" aria-hidden="true"></span></li>\n`
}

/**
 * The last piece. `ready`: the browser asks for the same address again by itself, with its fragment; the app must answer
 * by then. Otherwise the content of a page that says why not (`absenceBody`), which takes the place of the progress.
 */
export function progressDone(end: 'ready' | Markup): string {
  const outcome = end === 'ready' ? ready : `<div class="failed part" role="alert">\n${end.html}</div>\n`
  return `${end === 'ready' ? '<li>It answers. Moving on…</li>\n' : ''}</ol>\n</div>\n</div>\n${outcome}${closeDocument}`
}

/** A refresh counts wherever it stands in a document. The link is for those who have forbidden pages to reload. */
const ready = `<div class="ready part">
<meta http-equiv="refresh" content="0">
${mainLink(sameAddress, 'Go on')}
</div>
`
