import { message } from '../../messages/message.ts'
import type { Absence, Explanation } from '../gateway.ts'
import { absencePage, type AbsenceReason, type AbsenceView } from '../pages/absence-page.ts'
import { absenceWords, type Why } from '../pages/absence-words.ts'
import { jsonAnswer, pageAnswer, withNext, type OwnAnswer } from './answer.ts'
import type { Serving } from './core.ts'
import { headLanguage } from './head-language.ts'
import { isNavigation } from './navigation.ts'
import { GatewayRefusal } from './refusals.ts'
import type { RequestHead } from './request-head.ts'

/** Whose container is absent, and who looks. */
export interface AbsentContainer {
  readonly prefix: string
  /** As encoded in its path. */
  readonly type: string
  readonly displayName: string
  readonly isOwner: boolean
}

/** Seconds until trying again makes sense; a crash waits for a person. */
const retryAfter: Partial<Record<Why, string>> = { asleep: '2', unknown: '10', silent: '5' }

/**
 * The answer in place of an app that cannot be reached: a page with the reason, the last log lines for the owner and the
 * button that helps; `{error}` with `Retry-After` for programs.
 * @param absence undefined when the container runs but its app does not answer
 */
export async function absenceAnswer(
  serving: Serving,
  head: RequestHead,
  absence: Absence | undefined,
  container: AbsentContainer,
): Promise<OwnAnswer> {
  const why = absence?.absent ?? 'silent'
  const status = why === 'silent' ? 502 : 503
  const language = headLanguage(head)
  const headers = { 'retry-after': retryAfter[why] ?? '30' }
  if (!isNavigation(head)) {
    const { title, what, todo } = absenceWords(why, container.displayName, absence?.exitCode ?? null)
    return jsonAnswer(
      new GatewayRefusal(status, message('gateway.absent', { title, what, todo }), { headers }),
      language,
    )
  }
  const reason = await absenceReason(serving, absence, container)
  return pageAnswer(status, absencePage(reason, absenceView(serving, head, container)), language, headers)
}

/** What is known: for the owner with the last lines of the log, which nobody else may see. */
export async function absenceReason(
  { control }: Serving,
  absence: Absence | undefined,
  { prefix, isOwner, displayName }: AbsentContainer,
): Promise<AbsenceReason> {
  const known: Explanation = { absence, lastLines: [], displayName }
  if (!isOwner) return known
  const explained = await control.explain(prefix).catch(() => known)
  return { ...explained, absence: explained.absence ?? absence }
}

export function absenceView(
  { settings }: Serving,
  head: RequestHead,
  { prefix, type, displayName, isOwner }: AbsentContainer,
): AbsenceView {
  const launch = `${settings.launchUrl}${settings.launchUrl.includes('?') ? '&' : '?'}type=${type}`
  return {
    prefix,
    displayName,
    isOwner,
    launchHref: withNext(launch, head.target),
    dashboardUrl: settings.dashboardUrl,
    language: headLanguage(head),
  }
}
