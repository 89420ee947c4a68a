#!/bin/bash
# Keystone, Glance, Placement, Nova with its fake driver, Neutron, Cinder with its fake driver, and Swift, of Debian, on loopback.
# Runs in a Debian root, in namespaces of its own. Prints "ready", and ends when its standard input does.
set -eu
cd /bed
export HOME=/root OS_LOG=/bed/log
mkdir -p log images nova/instances neutron lock swift/one /run/mysqld /run/rabbitmq /run/memcached
ip link set lo up
hostname bed
echo "127.0.0.1 localhost bed" >/etc/hosts
trap 'kill $(jobs -p) 2>/dev/null || :' EXIT

until_port() {
  for _ in $(seq 600); do
    if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    sleep 0.5
  done
  echo "nothing listens on port $1" >&2
  return 1
}

# ---- database, queue, cache
chown mysql /run/mysqld
mysqld --user=mysql --bind-address=127.0.0.1 >log/mysql 2>&1 &
chown rabbitmq /run/rabbitmq
su -s /bin/bash rabbitmq -c 'HOME=/var/lib/rabbitmq RABBITMQ_NODENAME=rabbit@bed exec rabbitmq-server' >log/rabbit 2>&1 &
memcached -u nobody -l 127.0.0.1 >log/memcached 2>&1 &
until mysqladmin ping >log/ping 2>&1; do sleep 0.5; done
for name in keystone glance placement nova_api nova nova_cell0 neutron cinder; do
  mysql -e "create database if not exists $name character set utf8; grant all on $name.* to 'bed'@'localhost' identified by 'bed'; grant all on $name.* to 'bed'@'127.0.0.1' identified by 'bed';"
done
database=mysql+pymysql://bed:bed@127.0.0.1

login() {
  printf '%s\n' www_authenticate_uri=http://127.0.0.1:5000 auth_url=http://127.0.0.1:5000 auth_type=password project_domain_name=Default \
    user_domain_name=Default project_name=service username=svc password=svc region_name=RegionOne memcached_servers=127.0.0.1:11211
}
queue=rabbit://guest:guest@127.0.0.1:5672/

cat >keystone.conf <<END
[DEFAULT]
log_file=/bed/log/keystone
[database]
connection=$database/keystone
[token]
provider=fernet
END
cat >glance.conf <<END
[DEFAULT]
log_file=/bed/log/glance
[database]
connection=$database/glance
[keystone_authtoken]
$(login)
[paste_deploy]
flavor=keystone
[glance_store]
stores=file
default_store=file
filesystem_store_datadir=/bed/images
END
cat >placement.conf <<END
[DEFAULT]
log_file=/bed/log/placement
[placement_database]
connection=$database/placement
[api]
auth_strategy=keystone
[keystone_authtoken]
$(login)
END
cat >nova.conf <<END
[DEFAULT]
log_file=/bed/log/nova
compute_driver=fake.FakeDriver
transport_url=$queue
my_ip=127.0.0.1
host=bed
enabled_apis=osapi_compute
osapi_compute_workers=1
osapi_compute_listen=127.0.0.1
state_path=/bed/nova
vif_plugging_is_fatal=False
vif_plugging_timeout=0
[conductor]
workers=1
[scheduler]
workers=1
[api_database]
connection=$database/nova_api
[database]
connection=$database/nova
[api]
auth_strategy=keystone
[keystone_authtoken]
$(login)
[service_user]
$(login)
[placement]
$(login)
[neutron]
$(login)
[cinder]
$(login)
[glance]
api_servers=http://127.0.0.1:9292
[oslo_concurrency]
lock_path=/bed/lock
END
cat >neutron.conf <<END
[DEFAULT]
log_file=/bed/log/neutron
core_plugin=ml2
service_plugins=router,tag
transport_url=$queue
api_workers=1
rpc_workers=1
rpc_state_report_workers=0
bind_host=127.0.0.1
notify_nova_on_port_status_changes=false
notify_nova_on_port_data_changes=false
state_path=/bed/neutron
api_paste_config=/etc/neutron/api-paste.ini
host=bed
dhcp_agent_notification=false
[database]
connection=$database/neutron
[keystone_authtoken]
$(login)
[oslo_concurrency]
lock_path=/bed/lock
[ml2]
type_drivers=flat,vlan,vxlan,local
tenant_network_types=local
mechanism_drivers=bind_all
extension_drivers=port_security
[ml2_type_flat]
flat_networks=*
END
cat >cinder.conf <<END
[DEFAULT]
log_file=/bed/log/cinder
transport_url=$queue
my_ip=127.0.0.1
auth_strategy=keystone
enabled_backends=fake
osapi_volume_listen=127.0.0.1
osapi_volume_workers=1
default_volume_type=__DEFAULT__
state_path=/bed/cinder
glance_api_servers=http://127.0.0.1:9292
[fake]
volume_driver=cinder.tests.fake_driver.FakeLoggingVolumeDriver
volume_backend_name=fake
[database]
connection=$database/cinder
[keystone_authtoken]
$(login)
[oslo_concurrency]
lock_path=/bed/lock
END
mkdir -p cinder

# ---- databases
exec 3>&1 1>log/databases 2>&1
keystone-manage --config-file keystone.conf db_sync
keystone-manage --config-file keystone.conf fernet_setup --keystone-user keystone --keystone-group keystone
keystone-manage --config-file keystone.conf credential_setup --keystone-user keystone --keystone-group keystone
keystone-manage --config-file keystone.conf bootstrap --bootstrap-password admin-password --bootstrap-public-url http://127.0.0.1:5000/v3/ \
  --bootstrap-internal-url http://127.0.0.1:5000/v3/ --bootstrap-admin-url http://127.0.0.1:5000/v3/ --bootstrap-region-id RegionOne
# The users of the services. The packaged client is slow and its role command has failed here.
keystone-manage --config-file keystone.conf bootstrap --bootstrap-username svc --bootstrap-project-name service --bootstrap-password svc
glance-manage --config-file glance.conf db_sync
placement-manage --config-file placement.conf db sync
cp nova.conf /etc/nova/nova.conf
nova-manage api_db sync
nova-manage cell_v2 map_cell0 --database_connection $database/nova_cell0
nova-manage cell_v2 create_cell --name one
nova-manage db sync
cp neutron.conf /etc/neutron/neutron.conf
PYTHONPATH=/bed/python neutron-db-manage --config-file neutron.conf upgrade head
cp cinder.conf /etc/cinder/cinder.conf
cinder-manage db sync
exec 1>&3 3>&-

# ---- services
touch log/keystone
chown -R keystone /etc/keystone log/keystone
serve() {
  # Without Connection: close and post-buffering, uwsgi resets connections now and then.
  uwsgi --plugin python3 --master --die-on-term --enable-threads --processes 1 --threads 8 --lazy-apps --buffer-size 65535 \
    --add-header Connection:close --post-buffering 1048576 --http-socket "127.0.0.1:$1" --wsgi-file "$2" "${@:3}" >"log/uwsgi-$1" 2>&1 &
}
serve 5000 /usr/bin/keystone-wsgi-public --pyargv "--config-file /bed/keystone.conf"
OS_PLACEMENT_CONFIG_DIR=/bed serve 8778 /usr/bin/placement-api
glance-api --config-file glance.conf --config-file /etc/glance/glance-api-paste.ini >log/glance.out 2>&1 &
until_port 5672
serve 8774 /usr/bin/nova-api-wsgi
for part in conductor scheduler compute; do nova-$part --log-file log/nova-$part >log/nova-$part.out 2>&1 & done
PYTHONPATH=/bed/python neutron-server --config-file neutron.conf >log/neutron.out 2>&1 &
serve 8776 /usr/bin/cinder-wsgi
for part in scheduler volume; do cinder-$part --log-file log/cinder-$part >log/cinder-$part.out 2>&1 & done

# ---- Swift
mkdir -p /etc/swift
chown -R swift swift
printf '[swift-hash]\nswift_hash_path_suffix = bed\nswift_hash_path_prefix = bed\n' >/etc/swift/swift.conf
for each in account:6202 container:6201 object:6200; do
  name=${each%:*} port=${each#*:}
  cat >/etc/swift/$name-server.conf <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
mount_check = false
devices = /bed/swift
workers = 0
[pipeline:main]
pipeline = $name-server
[app:$name-server]
use = egg:swift#$name
END
  (cd /etc/swift
   swift-ring-builder $name.builder create 4 1 0
   swift-ring-builder $name.builder add "r1z1-127.0.0.1:$port/one" 1
   swift-ring-builder $name.builder rebalance) >"log/ring-$name"
done
cat >/etc/swift/proxy-server.conf <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = 8080
workers = 0
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats tempurl authtoken keystoneauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:11211
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:tempurl]
use = egg:swift#tempurl
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
delay_auth_decision = true
$(login)
[filter:keystoneauth]
use = egg:swift#keystoneauth
operator_roles = admin, member
END
for name in account container object proxy; do swift-$name-server /etc/swift/$name-server.conf >"log/swift-$name" 2>&1 & done

for port in 5000 9292 8778 8774 9696 8776 6200 6201 6202 8080; do until_port $port; done
# Nova uses the host when it is mapped to the cell.
for _ in $(seq 120); do
  nova-manage cell_v2 discover_hosts >>log/discover 2>&1
  [ "$(mysql -N nova_api -e 'select count(*) from host_mappings')" = 0 ] || break
  sleep 1
done
echo ready
# Until the test closes this pipe, or ends.
while read -r _; do :; done
