import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { LaunchableOptions } from './launchable-options.tsx'

/** The container type of a lesson, as `type` of its form. */
export function LessonField({ types }: { types: ManagedGroupResponse['types'] }) {
  const t = useTranslations('groups.hours')
  const id = useId()
  return (
    <div className="group-field">
      <label htmlFor={id}>{t('type')}</label>
      <select id={id} name="type">
        <LaunchableOptions types={types} />
      </select>
    </div>
  )
}
