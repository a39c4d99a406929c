import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { Section } from './section.tsx'

/** Current launches, and for how many more containers there is capacity. */
export function Launches({ report: { launches, containers } }: { report: SystemReport }) {
  const t = useTranslations('admin.system.launches')
  const { count } = useQuantities()
  return (
    <Section title={t('title')}>
      <Figures>
        <Figure label={t('waiting')} value={count(launches.waiting)} meaning={t('waitingFor')} />
        <Figure
          label={t('underWay')}
          value={count(launches.under_way)}
          meaning={t('parallel', { parallel: count(launches.parallel) })}
        />
        <Figure
          label={t('running')}
          value={count(containers.running)}
          meaning={containers.max === null ? t('runningAll') : t('runningOf', { max: count(containers.max) })}
        />
        <Figure
          label={t('addresses')}
          value={containers.addresses_left === null ? undefined : count(containers.addresses_left)}
          meaning={containers.addresses_left === null ? undefined : t('addressesFor')}
        />
      </Figures>
    </Section>
  )
}

/** Free resources of the host, and whether host rules are set. */
export function Host({ host }: { host: SystemReport['host'] }) {
  const t = useTranslations('admin.system.host')
  const { bytes } = useQuantities()
  const rest = (part: SystemReport['host']['memory']) =>
    part ? { value: bytes(part.left), meaning: t('of', { total: bytes(part.total) }) } : { value: undefined }
  return (
    <Section title={t('title')}>
      <Figures>
        <Figure label={t('memory')} {...rest(host.memory)} />
        <Figure label={t('disk')} {...rest(host.disk)} />
        <Rules rules={host.rules} are={host.rules_are ?? 'host rules'} />
      </Figures>
    </Section>
  )
}

/** Of the host they are firewall rules, of a cluster policies, which Berth tries at its start. */
const ruleWords = {
  'host rules': { label: 'rules', set: 'rulesSet', means: 'rulesSetMeans', notSet: 'rulesNotSet' },
  policies: {
    label: 'policies',
    set: 'policiesEnforced',
    means: 'policiesEnforcedMeans',
    notSet: 'policiesNotEnforced',
  },
} as const

interface RulesProps {
  /** `set`, `not known`, or `not set: ` and the reason. */
  rules: string
  are: keyof typeof ruleWords
}

function Rules({ rules, are }: RulesProps) {
  const t = useTranslations('admin.system.host')
  const words = ruleWords[are]
  const reason = /^not set: (.*)$/s.exec(rules)?.[1]
  if (rules === 'set') return <Figure label={t(words.label)} value={t(words.set)} meaning={t(words.means)} />
  return <Figure label={t(words.label)} value={reason === undefined ? undefined : t(words.notSet)} meaning={reason} />
}
