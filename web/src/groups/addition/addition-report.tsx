import type { AddMembersResponse } from '@berth/api/schemas/groups.ts'
import type { MemberPrediction } from '@berth/api/schemas/groups/group-invitations.ts'
import { useTranslations } from 'use-intl/react'
import type { FoundAddresses } from '#/addresses/find-addresses.ts'

/** Lines that are named at most; the others are counted. */
const maxNamed = 20

/** Without one it is no address, and that is why the server refused it. */
const hasDomain = (email: string) => /@[^@\s]+\.[^@\s]+$/.test(email)

const effects = ['join', 'invite', 'invited', 'member'] as const

/** What an addition will do, and the lines that it cannot use. */
export function AdditionPreview({
  found,
  predictions,
}: {
  found: FoundAddresses
  predictions: readonly MemberPrediction[]
}) {
  const t = useTranslations('groups.add')
  const count = (effect: MemberPrediction['effect']) => predictions.filter((each) => each.effect === effect).length
  const unusable = predictions.filter(({ effect }) => effect === 'invalid' || effect === 'not_allowed')
  return (
    <>
      <ul>
        {effects.map(
          (effect) => count(effect) > 0 && <li key={effect}>{t(`will.${effect}`, { count: count(effect) })}</li>,
        )}
      </ul>
      <Lines
        title={t('unusable')}
        lines={[
          ...found.rejected.map(({ line, text }) => ({ line, text, why: t('why.noAddress') })),
          ...unusable.map(({ email, effect }) => ({
            ...lineOf(found, email),
            why: effect === 'invalid' ? t('why.invalid') : t('why.notAllowed'),
          })),
        ]}
      />
    </>
  )
}

/** What an addition has done, and the lines that were left. */
export function AdditionOutcome({ found, outcome }: { found: FoundAddresses; outcome: AddMembersResponse }) {
  const t = useTranslations('groups.add')
  const { added, invited, refused } = outcome
  return (
    <>
      <p>
        {added.length > 0 && t('added', { count: added.length })}{' '}
        {invited.length > 0 && t('invited', { count: invited.length })}
      </p>
      <Lines
        title={t('refused')}
        lines={[
          ...found.rejected.map(({ line, text }) => ({ line, text, why: t('why.noAddress') })),
          ...refused.map((email) => ({
            ...lineOf(found, email),
            why: t(hasDomain(email) ? 'why.refused' : 'why.invalid'),
          })),
        ]}
      />
    </>
  )
}

interface NamedLine {
  readonly line: number
  readonly text: string
  readonly why: string
}

function Lines({ title, lines }: { title: string; lines: readonly NamedLine[] }) {
  const t = useTranslations('groups.add')
  if (lines.length === 0) return null
  const sorted = lines.toSorted((one, other) => one.line - other.line)
  return (
    <div className="note">
      <p>{title}</p>
      <ul>
        {sorted.slice(0, maxNamed).map(({ line, text, why }) => (
          <li key={`${line} ${text}`} className="address">
            {t('line', { line, text, why })}
          </li>
        ))}
      </ul>
      {sorted.length > maxNamed && <p>{t('moreLines', { count: sorted.length - maxNamed })}</p>}
    </div>
  )
}

function lineOf({ addresses }: FoundAddresses, email: string): { line: number; text: string } {
  return addresses.find(({ text }) => text.toLowerCase() === email.toLowerCase()) ?? { line: 0, text: email }
}
