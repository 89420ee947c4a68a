#!/bin/bash
# dracut module: what Debian's packages ostree-boot and ignition leave to a distribution. README.md beside it says why each part is
# needed. dracut calls these functions.

check() { return 255; } # only where it is asked for

depends() { echo systemd-initrd systemd-networkd systemd-resolved ostree ignition kernel-modules fs-lib; }

installkernel() {
  hostonly='' instmods ext4 xfs vfat isofs nls_ascii nls_cp437 overlay loop squashfs qemu_fw_cfg virtio_pci virtio_blk virtio_scsi \
    virtio_net virtio_rng nvme ahci ata_piix sd_mod sr_mod e1000 e1000e vmw_pvscsi vmxnet3 hv_storvsc hv_netvsc xen_blkfront \
    xen_netfront ena gve
}

install() {
  inst_multiple cat chroot cmp cp grep ip journalctl mkdir losetup modprobe mount mv sed sh sha256sum sleep sync systemctl tail tr umount
  inst_script "$moddir/setfiles" /usr/sbin/setfiles
  inst_script "$moddir/is-live-image" /usr/bin/is-live-image
  local name
  for name in mount-var copy-config live-root network report-failure report-fetch; do
    inst_script "$moddir/$name" "/usr/lib/slipway/initramfs/$name"
  done
  for name in slipway-mount-var slipway-copy-config slipway-network slipway-report-fetch; do
    inst_simple "$moddir/$name.service" "$systemdsystemunitdir/$name.service"
    mkdir -p "$initdir$systemdsystemunitdir/ignition-complete.target.requires"
    ln_r "$systemdsystemunitdir/$name.service" "$systemdsystemunitdir/ignition-complete.target.requires/$name.service"
  done
  cp "$moddir/kargs-helper" "$initdir/usr/sbin/ignition-kargs-helper" # Debian's says that it is not supported
  inst_script "$moddir/generator" "$systemdutildir/system-generators/slipway-generator"
  inst_simple "$moddir/live-sysroot.mount" /usr/lib/slipway/initramfs/live-sysroot.mount
  inst_simple "$moddir/slipway-live-root.service" "$systemdsystemunitdir/slipway-live-root.service"
  inst_simple "$moddir/emergency.service" "$systemdsystemunitdir/emergency.service"
  inst_simple "$systemdsystemunitdir/emergency.target"
  inst_simple /usr/lib/ignition/base.d/10-core.ign
  inst_simple /usr/lib/systemd/network/90-slipway-dhcp.network
  inst_simple "$systemdsystemunitdir/systemd-network-generator.service.d/20-slipway.conf"
  inst_script /usr/lib/slipway/bond-options
  # /usr of an initramfs is read-only. Ignition reads this path, and slipway-copy-config writes to its target.
  ln -s /run/user.ign "$initdir/usr/lib/ignition/user.ign"
  inst_rules 60-block.rules 60-cdrom_id.rules 60-persistent-storage.rules
  # dracut enables the network at each boot; slipway-network starts it when Ignition needs it.
  for name in systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service systemd-resolved.service; do
    find "$initdir/etc/systemd/system" "$initdir/usr/lib/systemd/system" -path "*.wants/$name" -delete
  done
}
