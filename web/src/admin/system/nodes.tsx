import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useAgo, useInstants } from '#/admin/use-instants.ts'
import { Section } from './section.tsx'

type Node = SystemReport['nodes'][number]

/** The nodes of an installation that has several: which one leads, and which ones serve containers. */
export function Nodes({ nodes }: { nodes: SystemReport['nodes'] }) {
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
