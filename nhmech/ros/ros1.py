"""The node for ROS 1: rospy around `Node`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NhmechError
from .start import find_type, import_ros, load_from_parameters, report

if TYPE_CHECKING:
    from .node import Node

REMEDY = ("on Debian 12: apt install python3-rospy python3-tf2-msgs python3-nav-msgs "
          "python3-sensor-msgs python3-diagnostic-msgs python3-std-srvs")


def flatten(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """ROS 1 keeps parameters as trees; their names with dots, as ROS 2 has them."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flatten(value, f"{above}{name}.")
        else:
            found[f"{above}{name}"] = value
    return found


def main() -> int:
    """Runs the node until ROS ends it. Returns the exit code."""
    try:
        rospy = import_ros("rospy", REMEDY)
        rosgraph = import_ros("rosgraph", REMEDY)
        _find_master(rosgraph)
        rospy.init_node("nhmech")
        # from here on Ctrl-C is rospy's; what takes long to import comes after
        from ..logs.messages import Messages
        from .node import Node

        vehicle, settings = load_from_parameters(flatten(rospy.get_param("~", {})))
        node = Node(vehicle, settings, Messages(_make(rospy)), lambda stamp: stamp.to_sec(),
                    rospy.logwarn, rospy.get_name())
        if not rospy.is_shutdown():        # Ctrl-C while equations were formed
            run(rospy, node)
    except (NhmechError, OSError) as error:
        return report(error)
    except KeyboardInterrupt:
        pass
    return 0


def _find_master(rosgraph: Any) -> None:
    """Raises `NhmechError` if there is none."""
    try:
        if rosgraph.is_master_online():
            return
        where = rosgraph.get_master_uri()
    except ValueError as error:
        raise NhmechError(f"ROS_MASTER_URI is invalid: {error}") from error
    raise NhmechError(f"no ROS master answers at {where}: start roscore, or set ROS_MASTER_URI")


def _make(rospy: Any) -> Callable[[str], Any]:
    """Classes of messages; a time is made by rospy itself."""
    from ..logs.messages import TIME

    return lambda name: ((lambda sec, nanosec: rospy.Time(sec, nanosec)) if name == TIME
                         else find_type(name))


def run(rospy: Any, node: Node) -> None:
    """Connects a node and ticks until ROS ends it."""
    from ..simulation.pacing import keep_pace
    from .node import KEPT

    # room for those that a late tick makes up for, before the threads that send them run
    publishers = {topic: rospy.Publisher(topic, find_type(kind), queue_size=10 * KEPT,
                                         latch=topic in node.latched)
                  for topic, kind in node.outputs.items()}
    own = node.settings.publish_clock
    clock = time.monotonic if own else rospy.get_time
    for topic, message in node.latched.items():
        publishers[topic].publish(message)
    for topic, (kind, take) in node.inputs.items():
        rospy.Subscriber(topic, find_type(kind), _receive(take, clock), queue_size=KEPT,
                         tcp_nodelay=True)
    for name, (kind, answer) in node.services.items():
        try:
            service = find_type(kind)
            rospy.Service(name.replace("~/", "~"), service, _serve(answer, service))
        except ImportError:
            rospy.loginfo("%s is left out: this ROS has no %s", name, kind)

    def tick() -> None:
        now = clock()
        if now == 0 and not own:
            return                # the clock of somebody else has not begun
        for topic, message in node.tick(now):
            publishers[topic].publish(message)

    rospy.loginfo(node.greet(not own and clock() == 0))
    try:
        keep_pace(node.settings.publish_rate, rospy.is_shutdown, tick)
    except rospy.ROSException:
        if not rospy.is_shutdown():        # Ctrl-C closes topics between two messages
            raise


def _receive(take: Callable[[Any, float], object],
             clock: Callable[[], float]) -> Callable[[Any], None]:
    def receive(message: Any) -> None:
        take(message, clock())
    return receive


def _serve(answer: Callable[[Any, Any], None], service: Any) -> Callable[[Any], Any]:
    def serve(request: Any) -> Any:
        response = find_response(service)()
        answer(request, response)
        return response
    return serve


def find_response(service: Any) -> Any:
    """Class of a service's response."""
    return vars(service)["_response_class"]
