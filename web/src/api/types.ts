// What the page reads of the objects of the API. Fields that hold JSON in a string are parsed by api/parse.ts.

export interface Progress {
  total_percentage: number;
  preparing_for_installation_stage_percentage: number;
  installing_stage_percentage: number;
  finalizing_stage_percentage: number;
  finalizing_stage?: string;
}

export interface Operator {
  name: string;
  version: string;
  status: 'failed' | 'progressing' | 'available';
  status_info: string;
}

export interface Cluster {
  id: string;
  kind: string;
  name: string;
  status: string;
  status_info: string;
  status_updated_at: string;
  created_at: string;
  install_started_at?: string;
  install_completed_at?: string;
  openshift_version?: string;
  base_dns_domain?: string;
  control_plane_count: number;
  cpu_architecture: string;
  pull_secret_set: boolean;
  ssh_public_key?: string;
  user_managed_networking: boolean;
  api_vips?: { ip: string }[];
  ingress_vips?: { ip: string }[];
  machine_networks: { cidr: string }[];
  cluster_networks?: { cidr: string; host_prefix: number }[];
  service_networks?: { cidr: string }[];
  network_type?: string;
  additional_ntp_source?: string;
  host_networks: { cidr: string; host_ids: string[] }[];
  validations_info: string;
  total_host_count: number;
  ready_host_count: number;
  monitored_operators: Operator[];
  progress: Progress;
  controller_logs_collected_at?: string;
  'last-installation-preparation'?: { status: string; reason: string };
  hosts: Host[];
}

export interface Host {
  id: string;
  infra_env_id: string;
  status: string;
  status_info: string;
  status_updated_at: string;
  role: string;
  suggested_role: string;
  bootstrap: boolean;
  requested_hostname: string;
  checked_in_at: string;
  created_at: string;
  registered_at: string;
  inventory?: string;
  validations_info: string;
  installation_disk_id?: string;
  installation_disk_path?: string;
  ntp_sources?: string;
  progress_stages?: string[];
  progress?: {
    current_stage: string;
    progress_info: string;
    installation_percentage: number;
    stage_started_at?: string;
    stage_updated_at?: string;
  };
  logs_collected_at?: string;
}

export interface Disk {
  id: string;
  name: string;
  path: string;
  drive_type?: string;
  size_bytes?: number;
  model?: string;
  vendor?: string;
  serial?: string;
  wwn?: string;
  bootable?: boolean;
  is_installation_media?: boolean;
  installation_eligibility?: { eligible: boolean; not_eligible_reasons: string[] };
}

export interface Nic {
  name: string;
  mac_address?: string;
  mtu?: number;
  has_carrier?: boolean;
  speed_mbps?: number;
  ipv4_addresses?: string[];
  ipv6_addresses?: string[];
}

export interface Inventory {
  hostname?: string;
  cpu?: { count?: number; architecture?: string; model_name?: string };
  memory?: { physical_bytes?: number; usable_bytes?: number };
  boot?: { current_boot_mode?: string; secure_boot_state?: string };
  system_vendor?: { manufacturer?: string; product_name?: string; serial_number?: string; virtual?: boolean };
  bmc_address?: string;
  tpm_version?: string;
  disks: Disk[];
  interfaces: Nic[];
  routes: { interface?: string; gateway?: string; destination?: string }[];
}

export type Outcome = 'success' | 'failure' | 'pending' | 'disabled';

export interface Validation {
  id: string;
  status: Outcome;
  message: string;
  weight: 'state' | 'minimum' | 'input' | 'blocking' | 'warning';
}

export interface GateProblem {
  host_id?: string;
  id: string;
  category: string;
  status: Outcome;
  message: string;
}

export interface Gate {
  step: string;
  is_open: boolean;
  problems: GateProblem[];
  warnings: GateProblem[];
}

export interface InfraEnv {
  id: string;
  name: string;
  cluster_id?: string;
}

export interface ServiceEvent {
  name: string;
  severity: 'info' | 'warning' | 'error' | 'critical';
  message: string;
  event_time: string;
  props?: string;
  cluster_id?: string;
  host_id?: string;
}
