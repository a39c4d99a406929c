import type { AddMembersResponse } from '@berth/api/schemas/groups.ts'
import type { MemberPrediction } from '@berth/api/schemas/groups/group-invitations.ts'
import { useTranslations } from 'use-intl/react'
import type { FoundAddresses } from '#/addresses/find-addresses.ts'

/** Without one it is no address, and that is why the server refused it. */
const hasDomain = (email: string) => /@[^@\s]+\.[^@\s]+$/.test(email)

const effects = ['join', 'invite', 'invited', 'member'] as const

/** What an addition will do. */
export function AdditionPreview({ predictions }: { predictions: readonly MemberPrediction[] }) {
  const t = useTranslations('groups.add')
  const count = (effect: MemberPrediction['effect']) => predictions.filter((each) => each.effect === effect).length
  return (
    <ul>
      {effects.map(
        (effect) => count(effect) > 0 && <li key={effect}>{t(`will.${effect}`, { count: count(effect) })}</li>,
      )}
    </ul>
  )
}

/** What an addition has done. */
export function AdditionOutcome({ outcome: { added, invited } }: { outcome: AddMembersResponse }) {
  const t = useTranslations('groups.add')
  return (
    <p>
      {added.length > 0 && t('added', { count: added.length })}{' '}
      {invited.length > 0 && t('invited', { count: invited.length })}
    </p>
  )
}

interface Report {
  readonly found: FoundAddresses
  readonly predictions: readonly MemberPrediction[] | undefined
  readonly outcome: AddMembersResponse | undefined
}

/** Each line that was not added, or cannot be, with its reason, in their order; none before a check or an addition. */
export function useUnusedLines({ found, predictions, outcome }: Report): readonly string[] {
  const t = useTranslations('groups.add')
  if (!predictions && !outcome) return []
  const unusable = predictions?.filter(({ effect }) => effect === 'invalid' || effect === 'not_allowed') ?? []
  const refused = outcome
    ? outcome.refused.map((email) => ({ email, why: t(hasDomain(email) ? 'why.refused' : 'why.invalid') }))
    : unusable.map(({ email, effect }) => ({ email, why: t(effect === 'invalid' ? 'why.invalid' : 'why.notAllowed') }))
  return [
    ...found.rejected.map((each) => ({ ...each, why: t('why.noAddress') })),
    ...refused.map(({ email, why }) => ({ ...lineOf(found, email), why })),
  ]
    .toSorted((one, other) => one.line - other.line)
    .map((each) => t('line', each))
}

function lineOf({ addresses }: FoundAddresses, email: string): { line: number; text: string } {
  return addresses.find(({ text }) => text.toLowerCase() === email.toLowerCase()) ?? { line: 0, text: email }
}
