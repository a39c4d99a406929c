import { useId, useMemo, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { MailFailure, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useAgo, useInstants } from '#/admin/instants.tsx'
import { Attention, Healthy } from '#/admin/overview/attention.tsx'
import { momentsOf, type Moment } from '#/admin/overview/history.ts'
import { HealthStatus, useHistory, useReport } from '#/admin/overview/report.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { TypeName } from '#/components/type-name.tsx'
import { mailAdvice } from './mail-advice.ts'

/** The page that operators open to find a fault. */
export function System() {
  const t = useTranslations('admin')
  const report = useReport()
  const { data: samples } = useHistory(false)
  const moments = useMemo(() => momentsOf(samples ?? [], 'hours'), [samples])
  return (
    <AdminPage title={t('shell.system')} state={report.data && <Healthy report={report.data} />}>
      <QueryError query={report} />
      <HealthStatus report={report.data} />
      {report.data && (
        <>
          <Attention report={report.data} />
          <Nodes nodes={report.data.nodes} />
          <Launches report={report.data} moments={moments} />
          <Gpus gpus={report.data.gpus} />
          <Host host={report.data.host} moments={moments} />
          <Images images={report.data.images} />
          <Mail mail={report.data.mail} />
          <Reconciler report={report.data.reconciler} />
          <p className="hint">{t('system.version', { version: report.data.version })}</p>
        </>
      )}
    </AdminPage>
  )
}

/** What is said of small plots, where there are some. */
function useTrendNote(moments: readonly Moment[]): string | undefined {
  const t = useTranslations('admin.system')
  return moments.length > 1 ? t('trend') : undefined
}

/** The last two hours; empty where nothing is known of them. */
interface WithMoments {
  moments: readonly Moment[]
}

/** Current launches, and for how many more containers there is capacity. */
function Launches({ report: { launches, containers }, moments }: WithMoments & { report: SystemReport }) {
  const t = useTranslations('admin.system.launches')
  const { count } = useQuantities()
  return (
    <Section title={t('title')} about={useTrendNote(moments)}>
      <Figures>
        <Figure
          label={t('waiting')}
          value={count(launches.waiting)}
          meaning={t('waitingFor')}
          trend={moments.map(({ waiting }) => waiting)}
        />
        <Figure
          label={t('underWay')}
          value={count(launches.under_way)}
          meaning={t('parallel', { parallel: count(launches.parallel) })}
        />
        <Figure
          label={t('running')}
          value={count(containers.running)}
          meaning={containers.max === null ? t('runningAll') : t('runningOf', { max: count(containers.max) })}
          trend={moments.map(({ running }) => running)}
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

/** Who has which GPUs. */
function Gpus({ gpus }: { gpus: SystemReport['gpus'] }) {
  const t = useTranslations('admin.system.gpus')
  const { count } = useQuantities()
  if (gpus === null) return null
  return (
    <Section title={t('title')}>
      <Figures>
        <Figure label={t('inUse')} value={count(gpus.in_use)} meaning={t('of', { total: count(gpus.total) })} />
        <Figure label={t('waiting')} value={count(gpus.waiting)} meaning={t('waitingFor')} />
      </Figures>
      {gpus.containers.length > 0 && (
        <ul className="plain-list hint" aria-label={t('inUse')}>
          {gpus.containers.map(({ user_id, email, container_type, ids }) => (
            <li key={`${user_id} ${container_type}`}>
              <span className="address">{ids.join(', ')}</span>: <TypeName type={container_type} />
              {email !== null && ` (${email})`}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** Free resources of the host, and whether host rules are set. */
function Host({ host, moments }: WithMoments & { host: SystemReport['host'] }) {
  const t = useTranslations('admin.system.host')
  const { bytes } = useQuantities()
  const rest = (part: SystemReport['host']['memory']) =>
    part ? { value: bytes(part.left), meaning: t('of', { total: bytes(part.total) }) } : { value: undefined }
  return (
    <Section title={t('title')} about={useTrendNote(moments)}>
      <Figures>
        <Figure label={t('memory')} {...rest(host.memory)} trend={moments.map(({ memory_left }) => memory_left)} />
        <Figure label={t('disk')} {...rest(host.disk)} trend={moments.map(({ disk_left }) => disk_left)} />
        <Rules rules={host.rules} are={host.rules_are ?? 'host rules'} />
      </Figures>
    </Section>
  )
}

/** Images that are on the engine because of Berth, and which of them go. */
function Images({ images }: { images: SystemReport['images'] }) {
  const t = useTranslations('admin.system.images')
  const { bytes, count } = useQuantities()
  const { full } = useInstants()
  if (images === null) return null
  const { environments, pulled } = images
  return (
    <Section title={t('title')}>
      <Figures>
        <Figure
          label={t('environments')}
          value={bytes(environments.bytes)}
          meaning={t('versions', { count: count(environments.count) })}
        />
        <Figure
          label={t('pulled')}
          value={bytes(pulled.reduce((all, each) => all + each.bytes, 0))}
          meaning={t('images', { count: count(pulled.length) })}
        />
      </Figures>
      {pulled.length > 0 && (
        <ul className="plain-list hint" aria-label={t('pulled')}>
          {pulled.map(({ image, bytes: size, goes_at }) => (
            <li key={image}>
              <span className="address">{image}</span> ({bytes(size)}
              {goes_at !== null && `, ${t('goes', { at: full(goes_at) })}`})
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** The rules of the host are a firewall's; those of a cluster are policies, which Berth tries at its start. */
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

const kinds = ['adopt', 'stop', 'remove', 'forget', 'restore', 'retire', 'note'] as const

/** The reconciler's completed and failed actions. */
function Reconciler({ report }: { report: SystemReport['reconciler'] }) {
  const t = useTranslations('admin.system.reconciler')
  const { full } = useInstants()
  const ago = useAgo()
  const { duration } = useQuantities()
  const { last_run, last_success, duration_ms, is_engine_answering, failures } = report
  const when = (at: string | null) => (at === null ? t('never') : ago(at))
  return (
    <Section title={t('title')} about={t('about')}>
      <Figures>
        <Figure
          label={t('lastRun')}
          value={when(last_run)}
          meaning={duration_ms === null ? undefined : t('took', { duration: duration(duration_ms / 1_000) })}
        />
        <Figure
          label={t('lastSuccess')}
          value={when(last_success)}
          meaning={last_success === null ? undefined : full(last_success)}
        />
        <Figure
          label={t('engine')}
          value={last_run === null ? undefined : t(is_engine_answering ? 'answers' : 'noAnswer')}
        />
      </Figures>
      <h3>{t('left')}</h3>
      {failures.length === 0 ? (
        <p className="hint">{t('nothingLeft')}</p>
      ) : (
        <ul className="plain-list">
          {failures.map((failure) => (
            <li key={failure}>{failure}</li>
          ))}
        </ul>
      )}
      <h3>{t('done')}</h3>
      <Actions actions={report.actions} />
    </Section>
  )
}

function Actions({ actions }: { actions: SystemReport['reconciler']['actions'] }) {
  const t = useTranslations('admin.system')
  const { count } = useQuantities()
  const done = kinds.flatMap((kind) => (actions[kind] ? [{ kind, times: actions[kind] }] : []))
  if (done.length === 0) return <p className="hint">{t('reconciler.nothingDone')}</p>
  return (
    <dl className="counts">
      {done.map(({ kind, times }) => (
        <div key={kind}>
          <dt>{t(`action.${kind}`)}</dt>
          <dd>{count(times)}</dd>
        </div>
      ))}
    </dl>
  )
}

type Node = SystemReport['nodes'][number]

/** The nodes of an installation that has several: which one leads, and which ones serve containers. */
function Nodes({ nodes }: { nodes: SystemReport['nodes'] }) {
  const t = useTranslations('admin.system.nodes')
  if (nodes.length === 0) return undefined
  return (
    <Section title={t('title')} about={t('about')}>
      <Figures>
        {nodes.map((node) => (
          <NodeFigure key={node.address} node={node} />
        ))}
      </Figures>
    </Section>
  )
}

function NodeFigure({ node: { address, is_alive, is_current, leads_since, seen_at } }: { node: Node }) {
  const t = useTranslations('admin.system.nodes')
  const { full } = useInstants()
  const ago = useAgo()
  if (!is_alive) return <Figure label={address} value={t('lost')} meaning={t('lastSeen', { ago: ago(seen_at) })} />
  if (leads_since !== null)
    return <Figure label={address} value={t('leads')} meaning={t('since', { at: full(leads_since) })} />
  return <Figure label={address} value={t('follows')} meaning={t(is_current ? 'serves' : 'behind')} />
}

/** The delivery of mail, as far as Berth knows it. */
function Mail({ mail }: { mail: SystemReport['mail'] }) {
  const t = useTranslations('admin.system.mail')
  const { count, duration, percent } = useQuantities()
  const ago = useAgo()
  const spread = (times: SystemReport['mail']['seconds_to_use']) =>
    times ? { value: duration(times.median), meaning: t('spread', { p90: duration(times.p90) }) } : { value: undefined }
  return (
    <Section title={t('title')} about={t('about')}>
      {mailAdvice(mail).map((advice) => (
        <p key={advice} className="note">
          {t(advice)}
        </p>
      ))}
      <Figures>
        <Figure
          label={t('accepted')}
          value={count(mail.accepted)}
          meaning={t(mail.is_outbox ? 'inOutbox' : 'acceptedBy')}
        />
        <Figure
          label={t('failed')}
          value={count(mail.failed)}
          meaning={mail.last_failure_at === null ? undefined : t('failedLast', { ago: ago(mail.last_failure_at) })}
        />
        <Figure
          label={t('used')}
          value={count(mail.used)}
          meaning={mail.accepted === 0 ? undefined : t('usedOf', { share: percent(mail.used / mail.accepted) })}
        />
        <Figure label={t('toAccept')} {...spread(mail.seconds_to_accept)} />
        <Figure label={t('toUse')} {...spread(mail.seconds_to_use)} />
      </Figures>
      {mail.failures.length > 0 && <MailFailures failures={mail.failures} />}
    </Section>
  )
}

/** The recipients of mails that were not accepted, and the mail server's reply; at most 50. */
function MailFailures({ failures }: { failures: readonly MailFailure[] }) {
  const t = useTranslations('admin.system.mail')
  const { full } = useInstants()
  return (
    <>
      <h3>{t('failures')}</h3>
      <p className="hint">{t('failuresAbout', { count: failures.length })}</p>
      <ul className="mail-failures">
        {failures.map(({ at, to, kind, reason }) => (
          <li key={`${at} ${to}`}>
            <time dateTime={at}>{full(at)}</time>
            <span className="address">
              {to} <small>{t(kind)}</small>
            </span>
            <span className="smtp-reply">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

interface SectionProps {
  title: string
  about?: string | undefined
  children: ReactNode
}

/** A section of the page, with its heading and a description. */
function Section({ title, about, children }: SectionProps) {
  const heading = useId()
  return (
    <section className="part" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {about !== undefined && <p className="hint">{about}</p>}
      {children}
    </section>
  )
}
