import { typeIcons } from '@berth/api/type-icons.ts'
import { typePaths } from '@berth/api/type-icon-paths.ts'
import { Icon } from './icon.tsx'

/**
 * The picture of a container type. Its name stands beside it.
 * @param icon name of a sign or path of an image, as an entry of the list has it; undefined: the sign of those without
 */
export function TypeSign({ icon }: { icon: string | undefined }) {
  const sign = typeIcons.find((each) => each === (icon ?? typeIcons[0]))
  return (
    <span className="type-sign">
      {sign === undefined ? (
        <img src={icon} alt="" width="28" height="28" />
      ) : (
        <Icon path={typePaths[sign]} size={24} />
      )}
    </span>
  )
}
