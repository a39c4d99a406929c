import { closeDocument, escaped, mainLink, openDocument, sameAddress, type Markup } from './document.ts'

/**
 * A page that is sent in pieces while a container starts: `progressHead`, any number of `progressStep`, then
 * `progressReady` or `progressFailed`. The connection stays open in between, and a browser shows each piece when it comes, without a script.
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
 * The last piece when the app answers: the browser asks again by itself. It asks for the target by name, because a page
 * with a fragment (`#/notes`) that refreshes to its very own address only scrolls. The fragment itself is lost: the
 * server never sees it, and there is no script that could.
 * @param target path and query of the request, as they came
 */
export function progressReady(target: string): string {
  const address = isPath(target) ? target : sameAddress
  return `<li>It answers. Moving on…</li>
</ol>
</div>
</div>
<div class="ready part">
<meta http-equiv="refresh" content="0${address === sameAddress ? '' : `; url=${escaped(address)}`}">
${mainLink(address, 'Go on')}
</div>
${closeDocument}`
}

/** The last piece when it does not: why not (`absenceBody`), in place of the progress. */
export function progressFailed(reason: Markup): string {
  return `</ol>
</div>
</div>
<div class="failed part" role="alert">
${reason.html}</div>
${closeDocument}`
}

/** Of this host: two slashes, or a backslash for one of them, would lead to another. */
const isPath = (target: string) => /^\/(?![/\\])[^\s\\]*$/.test(target)
